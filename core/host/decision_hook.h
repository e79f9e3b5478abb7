// DecisionHook: somebody outside who may make a verdict stricter, never looser: a function of the host here,
// a program or an HTTP endpoint in core/serve. An answer that does not come in time, an error, and an answer
// that is none count as a denial.
#ifndef GLOVEPORT_CORE_HOST_DECISION_HOOK_H_
#define GLOVEPORT_CORE_HOST_DECISION_HOOK_H_

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/core/wire/value.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

// What is asked: about a cell before it runs, or a tool call before it is made.
struct HookQuestion {
  enum class Subject { kCell, kToolCall };
  Subject subject = Subject::kCell;
  std::string session;
  std::string code;                 // of a cell
  std::string tool;                 // of a tool call
  Value args;                       // of a tool call: a Map with every parameter bound
  Effect verdict = Effect::kAllow;  // what the policy says
  std::vector<Finding> findings;    // of a cell, why
  std::string reason;               // of a tool call, why
};

struct HookAnswer {
  Effect decision = Effect::kDeny;
  std::string reason;
};

// Implementations are called from several threads at once.
class DecisionHook {
 public:
  virtual ~DecisionHook() = default;
  // "callback", "program /usr/bin/judge", "https://judge.example.org": for messages and records.
  virtual std::string name() const = 0;
  // kDeadlineExceeded where there is no answer in time; other errors where there is none to be had.
  virtual Result<HookAnswer> Decide(const HookQuestion& question, Deadline deadline) = 0;
};

// A function of the host. It runs on a thread of its own; when it takes too long, `stop` is requested and
// nobody waits for it but the destructor: it must heed `stop` some time.
class CallbackHook : public DecisionHook {
 public:
  using Callback = std::function<Result<HookAnswer>(const HookQuestion& question, std::stop_token stop)>;

  explicit CallbackHook(Callback callback) : callback_(std::move(callback)) {}
  ~CallbackHook() override;

  std::string name() const override { return "callback"; }
  Result<HookAnswer> Decide(const HookQuestion& question, Deadline deadline) override;

 private:
  struct Call;
  void ForgetEnded();

  const Callback callback_;
  std::mutex mutex_;
  std::list<std::pair<std::shared_ptr<Call>, std::jthread>> late_;  // those that were given up
};

inline constexpr std::chrono::milliseconds kDefaultHookTime{10'000};

// Asks the hook; the result is never looser than `question.verdict`, and never fails: a denial says why there
// was no answer. A question that is denied already is not asked.
HookAnswer AskHook(DecisionHook& hook, const HookQuestion& question,
                   std::chrono::milliseconds time = kDefaultHookTime);

Effect Strictest(Effect a, Effect b);
Decision Strictest(Decision a, Decision b);
Effect ToEffect(Decision decision);  // escalate is ask
Decision ToDecision(Effect effect);

// `verdict` made as strict as the answer is; then a finding with the rule "hook" says who did it.
Verdict WithHookAnswer(Verdict verdict, const HookAnswer& answer, std::string_view hook_name);

// {"subject":"cell","session","code","verdict":{"decision","findings"}} or
// {"subject":"tool_call","session","tool","args","verdict":{"decision","reason"}}: one line.
std::string HookQuestionJson(const HookQuestion& question);
// {"decision":"allow"|"ask"|"deny","reason"?}; kProtocol for anything else. At most kMaxHookAnswerBytes.
Result<HookAnswer> ParseHookAnswer(std::string_view text);
inline constexpr std::size_t kMaxHookAnswerBytes = 64u << 10;

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_DECISION_HOOK_H_
