#include "gloveport/core/cli/terminal_prompt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

// The choice that a line names, by its number or by its text.
std::optional<std::string> Chosen(const std::vector<std::string>& choices, std::string_view line) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  const bool is_number = error == std::errc() && end == line.data() + line.size();
  if (is_number && number >= 1 && number <= choices.size()) return choices[number - 1];
  const auto found = std::find(choices.begin(), choices.end(), line);
  return found == choices.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::mutex& TerminalTurn() {
  static std::mutex turn;
  return turn;
}

std::shared_ptr<TerminalPrompt> TerminalPrompt::Find(Console& console) {
  if (!console.notes_on_terminal()) return nullptr;
  UniqueFd terminal(::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!terminal) return nullptr;
  return std::make_shared<TerminalPrompt>(console, std::move(terminal));
}

TerminalPrompt::TerminalPrompt(Console& console, UniqueFd terminal)
    : console_(console),
      terminal_(std::move(terminal)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { Work(); }) {}

TerminalPrompt::~TerminalPrompt() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  ready_.notify_all();
  Wake();
  thread_.join();
}

void TerminalPrompt::Wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void TerminalPrompt::Ask(const UserQuestion& question, Answer answer) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({question, std::move(answer)});
  ready_.notify_one();
}

void TerminalPrompt::Withdraw(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.question.id == id; });
  if (shown_ != id) return;
  shown_is_over_ = true;
  Wake();
}

bool TerminalPrompt::IsOver(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  return closing_ || (shown_ == id && shown_is_over_);
}

void TerminalPrompt::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ready_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (closing_) return;
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    shown_ = next.question.id;
    shown_is_over_ = false;
    lock.unlock();
    next.answer(Put(next.question));
    lock.lock();
    shown_ = 0;
  }
}

std::optional<std::string> TerminalPrompt::Put(const UserQuestion& question) {
  const std::lock_guard turn(TerminalTurn());
  if (IsOver(question.id)) return std::nullopt;
  ::tcflush(terminal_.get(), TCIFLUSH);  // what was typed before the question is no answer to it
  console_.Note("\n" + console_.Paint("The code asks you", Style::kWarning));
  console_.Note(console_.Block(question.question, "  | "));
  for (std::size_t i = 0; i < question.choices.size(); ++i)
    console_.Note(fmt::format("  {}) {}", i + 1, Console::Safe(question.choices[i])));
  while (true) {
    console_.Note(console_.Paint(
        question.choices.empty() ? "  Your answer (empty: none) ?" : "  Number (empty: no answer) ?",
        Style::kBold));
    const auto line = ReadLine(question.id);
    if (!line) {
      if (IsOver(question.id)) console_.Note("  No answer is needed any more.");
      return std::nullopt;
    }
    const std::string answer(Trim(*line));
    if (answer.empty()) return std::nullopt;
    if (question.choices.empty()) return ToValidUtf8(answer);
    if (auto chosen = Chosen(question.choices, answer)) return chosen;
  }
}

std::optional<std::string> TerminalPrompt::ReadLine(std::uint64_t id) {
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
