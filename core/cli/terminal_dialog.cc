#include "gloveport/core/cli/terminal_dialog.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace gloveport {
namespace {

std::mutex& Turn() {
  static std::mutex turn;
  return turn;
}

}  // namespace

std::unique_ptr<TerminalDialog> TerminalDialog::Open(Console& console) {
  if (!console.notes_on_terminal()) return nullptr;
  UniqueFd terminal(::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!terminal) return nullptr;
  return std::make_unique<TerminalDialog>(console, std::move(terminal));
}

TerminalDialog::TerminalDialog(Console& console, UniqueFd terminal)
    : console_(console),
      terminal_(std::move(terminal)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { Work(); }) {}

TerminalDialog::~TerminalDialog() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  ready_.notify_all();
  Wake();
  thread_.join();
}

void TerminalDialog::Wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void TerminalDialog::Ask(std::uint64_t id, std::function<void()> put) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({id, std::move(put)});
  ready_.notify_one();
}

void TerminalDialog::Withdraw(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Question& question) { return question.id == id; });
  if (shown_ != id) return;
  shown_is_over_ = true;
  Wake();
}

bool TerminalDialog::IsOver(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  return closing_ || (shown_ == id && shown_is_over_);
}

void TerminalDialog::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ready_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (closing_) return;
    const Question question = std::move(waiting_.front());
    waiting_.pop_front();
    shown_ = question.id;
    shown_is_over_ = false;
    lock.unlock();
    {
      const std::lock_guard turn(Turn());
      console_.HoldStatus();
      question.put();
      console_.ReleaseStatus();
    }
    lock.lock();
    shown_ = 0;
  }
}

void TerminalDialog::DropTyped() { ::tcflush(terminal_.get(), TCIFLUSH); }

std::optional<std::string> TerminalDialog::ReadLine(std::uint64_t id) {
  std::string line;
  while (!IsOver(id)) {
    std::array<pollfd, 2> ready = {pollfd{terminal_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    std::uint64_t count = 0;
    (void)!::read(wake_.get(), &count, sizeof count);
    if ((ready[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    char c = 0;
    if (::read(terminal_.get(), &c, 1) <= 0) return std::nullopt;
    if (c == '\n') return line;
    line.push_back(c);
  }
  return std::nullopt;
}

}  // namespace gloveport
