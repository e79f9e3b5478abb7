#include "gloveport/core/cli/terminal_approver.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/terminal_prompt.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/python_literal.h"

extern char** environ;

namespace gloveport {
namespace {

constexpr std::size_t kMaxEdited = 8u << 20;

// What the person's editor made of `text`; nothing where there is no editor, or it failed.
std::optional<std::string> EditText(std::string_view text, std::string_view suffix) {
  const char* editor = std::getenv("VISUAL");
  if (editor == nullptr || *editor == '\0') editor = std::getenv("EDITOR");
  if (editor == nullptr || *editor == '\0') return std::nullopt;
  std::string path =
      (std::filesystem::temp_directory_path() / "gloveport-XXXXXX").string() + std::string(suffix);
  const UniqueFd file(::mkostemps(path.data(), static_cast<int>(suffix.size()), O_CLOEXEC));
  if (!file || !WriteFull(file.get(), AsBytes(text), Deadline::Never())) return std::nullopt;
  // The editor may be a command with options; the path is an argument of its own and no part of the shell's
  // text.
  const std::string command = std::string(editor) + " \"$1\"";
  const std::array<const char*, 6> arguments = {"sh", "-c", command.c_str(), "sh", path.c_str(), nullptr};
  pid_t child = 0;
  int status = -1;
  if (::posix_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char* const*>(arguments.data()),
                    environ) == 0)
    ::waitpid(child, &status, 0);
  const auto edited = ReadFile(path, kMaxEdited);
  ::unlink(path.c_str());
  return status == 0 && edited ? std::optional(*edited) : std::nullopt;
}

}  // namespace

std::shared_ptr<TerminalApprover> TerminalApprover::Find(Console& console) {
  if (!console.notes_on_terminal()) return nullptr;
  UniqueFd terminal(::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!terminal) return nullptr;
  return std::make_shared<TerminalApprover>(console, std::move(terminal));
}

TerminalApprover::TerminalApprover(Console& console, UniqueFd terminal)
    : console_(console),
      terminal_(std::move(terminal)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { Work(); }) {}

TerminalApprover::~TerminalApprover() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  ready_.notify_all();
  Wake();
  thread_.join();
}

void TerminalApprover::Wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void TerminalApprover::Ask(const ApprovalRequest& request, Answer answer) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({request, std::move(answer)});
  ready_.notify_one();
}

void TerminalApprover::Withdraw(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Question& question) { return question.request.id == id; });
  if (shown_ != id) return;
  shown_is_over_ = true;
  Wake();
}

bool TerminalApprover::IsWithdrawn(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  return closing_ || (shown_ == id && shown_is_over_);
}

void TerminalApprover::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ready_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (closing_) return;
    Question question = std::move(waiting_.front());
    waiting_.pop_front();
    shown_ = question.request.id;
    shown_is_over_ = false;
    lock.unlock();
    question.answer(Decide(question.request));
    lock.lock();
    shown_ = 0;
  }
}

void TerminalApprover::Show(const ApprovalRequest& request) {
  const bool is_cell = request.subject == ApprovalSubject::kCell;
  const std::string what =
      is_cell ? request.code : fmt::format("{}({})", request.tool, PythonArguments(request.arguments));
  console_.Note(fmt::format(
      "\n{}", console_.Paint(is_cell ? "This cell needs your approval" : "This call needs your approval",
                             Style::kWarning)));
  console_.Note(console_.Block(what, "  | "));
  console_.Note("  why: " + Console::Safe(request.reason));
  const std::string always =
      request.grant.empty() ? "" : "   [a]lways in this run: " + Console::Safe(request.grant);
  console_.Note("  [y]es, this once" + always + "\n  [n]o   [e]dit it first   (no answer within " +
                fmt::format("{:.0f} s", std::chrono::duration<double>(request.deadline.left()).count()) +
                " is a no)");
}

ApprovalDecision TerminalApprover::Decide(const ApprovalRequest& request) {
  const std::lock_guard turn(TerminalTurn());
  console_.HoldStatus();
  const auto decision = DecideAtThePrompt(request);
  console_.ReleaseStatus();
  return decision;
}

ApprovalDecision TerminalApprover::DecideAtThePrompt(const ApprovalRequest& request) {
  ApprovalDecision decision;
  decision.by = "terminal";
  decision.sha256 = request.sha256;
  ::tcflush(terminal_.get(), TCIFLUSH);  // what was typed before the question is no answer to it
  Show(request);
  std::string line;
  while (true) {
    console_.Note(console_.Paint("  y / a / n / e ?", Style::kBold));
    if (!ReadLine(request.id, line)) {
      if (IsWithdrawn(request.id)) console_.Note("  No answer is needed any more.");
      return decision;
    }
    const std::string_view word = Trim(line);
    decision.always = word == "a" || word == "always";
    decision.allowed = decision.always || word == "y" || word == "yes";
    if (decision.allowed) return decision;
    if (word == "e" || word == "edit") {
      Edit(request, decision);
      if (decision.allowed) return decision;
    } else if (word == "n" || word == "no") {
      console_.Note("  Why? The model reads it; empty is fine.");
      if (ReadLine(request.id, line)) decision.reason = std::string(Trim(line));
      return decision;
    }
  }
}

void TerminalApprover::Edit(const ApprovalRequest& request, ApprovalDecision& decision) {
  const bool is_cell = request.subject == ApprovalSubject::kCell;
  const auto edited =
      EditText(is_cell ? request.code : ToJson(request.arguments).dump(2), is_cell ? ".py" : ".json");
  if (!edited) return console_.Note("  No editor: set VISUAL or EDITOR.", Style::kWarning);
  if (is_cell) {
    decision.code = *edited;
    decision.allowed = true;
    return;
  }
  const auto json = ParseJson(*edited);
  auto value = json ? FromJson(*json) : Result<Value>(tl::unexpected<Error>(json.error()));
  if (!value || !value->is_map())
    return console_.Note("  These are no arguments: " + (value ? std::string("a JSON object is needed")
                                                               : Console::Safe(value.error().message)),
                         Style::kWarning);
  decision.arguments = std::move(value->as_map());
  decision.allowed = true;
}

bool TerminalApprover::ReadLine(std::uint64_t id, std::string& line) {
  line.clear();
  while (!IsWithdrawn(id)) {
    std::array<pollfd, 2> ready = {pollfd{terminal_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    std::uint64_t count = 0;
    (void)!::read(wake_.get(), &count, sizeof count);
    if ((ready[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    char c = 0;
    const ssize_t got = ::read(terminal_.get(), &c, 1);
    if (got <= 0) return false;
    if (c == '\n') return true;
    line.push_back(c);
  }
  return false;
}

}  // namespace gloveport
