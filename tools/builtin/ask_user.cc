#include "gloveport/tools/builtin/ask_user.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "gloveport/tools/binding.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxChoices = 50;

std::uint64_t NextId() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

// Where the answer arrives. Shared with the prompt, which may answer after the call is over.
class Mailbox {
 public:
  void Put(std::optional<std::string> answer) {
    const std::lock_guard lock(mutex_);
    if (here_) return;
    here_ = true;
    answer_ = std::move(answer);
    changed_.notify_all();
  }
  // Nothing where the stop or the time came first.
  std::optional<std::optional<std::string>> Wait(const CallContext& context, Deadline deadline) {
    std::stop_callback wake(context.stop, [this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline.when(), [&] { return here_ || context.stop.stop_requested(); });
    if (!here_) return std::nullopt;
    return std::move(answer_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool here_ = false;
  std::optional<std::string> answer_;
};

Status CheckQuestion(const UserQuestion& question, std::size_t max_bytes) {
  std::size_t bytes = question.question.size();
  for (const std::string& choice : question.choices) bytes += choice.size();
  if (question.question.empty())
    return Fail(ErrorCode::kInvalidArgument, "ask_user(): the question is empty");
  if (bytes > max_bytes)
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("ask_user(): question and choices have {} bytes, more than {}", bytes, max_bytes));
  if (question.choices.size() > kMaxChoices)
    return Fail(ErrorCode::kInvalidArgument, fmt::format("ask_user(): more than {} choices", kMaxChoices));
  return {};
}

Result<std::string> Ask(const AskUserOptions& options, UserQuestion question, const CallContext& context) {
  RETURN_IF_ERROR(CheckQuestion(question, options.max_question_bytes));
  if (!options.prompt)
    return Fail(
        ErrorCode::kDenied,
        "ask_user(): nobody is there who could be asked: go on without, and say in the answer what is open");
  question.id = NextId();
  question.session = context.session;
  const auto mailbox = std::make_shared<Mailbox>();
  options.prompt->Ask(question,
                      [mailbox](std::optional<std::string> answer) { mailbox->Put(std::move(answer)); });
  const auto answer = mailbox->Wait(context, Deadline::After(options.timeout));
  if (!answer) {
    options.prompt->Withdraw(question.id);
    return Fail(ErrorCode::kDeadlineExceeded, "ask_user(): nobody answered in time");
  }
  if (!*answer) return Fail(ErrorCode::kDenied, "ask_user(): the person did not want to answer");
  const bool fits = question.choices.empty() || std::find(question.choices.begin(), question.choices.end(),
                                                          **answer) != question.choices.end();
  if (!fits) return Fail(ErrorCode::kDenied, "ask_user(): the answer is none of the choices");
  return **answer;
}

}  // namespace

Result<std::shared_ptr<Tool>> MakeAskUser(AskUserOptions options) {
  ToolOptions tool;
  tool.waits_for_person = true;
  auto ask = [options = std::move(options)](std::string question,
                                            std::optional<std::vector<std::string>> choices,
                                            CallContext& context) {
    return Ask(options, {0, "", std::move(question), std::move(choices).value_or(std::vector<std::string>())},
               context);
  };
  return BindFunction("ask_user", "Asks the person for whom this runs, and waits for the answer",
                      std::move(ask),
                      {Arg("question", "short, and understandable by itself"),
                       Arg("choices", "the answers that are possible; None: any")},
                      tool);
}

}  // namespace gloveport
