#include "gloveport/core/host/cell_calls.h"

#include <fmt/core.h>

#include <tuple>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/host/policy_argument.h"
#include "gloveport/core/wire/cbor.h"
#include "gloveport/tools/stream.h"

namespace gloveport {
namespace {

constexpr std::chrono::seconds kSendPatience{5};

std::string Seconds(std::chrono::nanoseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1e9);
}

// Asks the hook on a thread of the dispatcher, in the place of the tool.
class HookCall : public Tool {
 public:
  HookCall(std::shared_ptr<DecisionHook> hook, std::chrono::milliseconds time, HookQuestion question)
      : hook_(std::move(hook)), time_(time), question_(std::move(question)) {}
  const ToolSpec& spec() const override { return spec_; }
  Result<Value> Call(const Arguments& arguments, CallContext&) override {
    question_.args = Value(arguments.all());
    const HookAnswer answer = AskHook(*hook_, question_, time_);
    return Value::Object({{"decision", EffectName(answer.decision)}, {"reason", answer.reason}});
  }

 private:
  const std::shared_ptr<DecisionHook> hook_;
  const std::chrono::milliseconds time_;
  const ToolSpec spec_;
  HookQuestion question_;
};

}  // namespace

CellCalls::CellCalls(SessionProcess& process, const CallEnvironment& environment, CallOwner& owner,
                     std::uint32_t cell)
    : process_(process),
      environment_(environment),
      owner_(owner),
      cell_(cell),
      limits_(environment.policy.limits, environment.totals),
      questions_(std::make_shared<ToolQuestions>(environment.desk, environment.dispatcher)),
      budget_(environment.policy.limits.result_mib << 20) {}

Deadline CellCalls::NextDeadline() const {
  Deadline next = Deadline::Never();
  for (const auto& [call, in_flight] : in_flight_) {
    next = Earlier(next, in_flight.deadline);
    if (in_flight.approval) next = Earlier(next, in_flight.approval->request().deadline);
  }
  return next;
}

void CellCalls::Take(wire::ToolCall& call) {
  const SharedView& shared = *process_.channel().incoming();
  const auto refuse = [&](std::string type, std::string message, std::string rule) {
    SharedBytesOf(call.args, shared, SharedBytes::kGiveBack);
    Refuse(call.call, call.name, std::move(type), std::move(message), std::move(rule));
  };
  if (call.cell != cell_) return owner_.Violate("a tool call for a cell that does not run");
  const auto [in_flight, is_new] = in_flight_.try_emplace(call.call);
  if (!is_new) return owner_.Violate("a tool call with a number that is in use");
  in_flight->second.tool = environment_.tools ? environment_.tools->Find(call.name) : nullptr;
  // More of a stream that a call which was allowed has opened; the rules are about that call.
  const bool continues = call.name.ends_with(kContinuationSuffix);
  const std::string_view judged =
      std::string_view(call.name).substr(0, call.name.size() - (continues ? kContinuationSuffix.size() : 0));
  if (!in_flight->second.tool || environment_.gate.IsHidden(judged))
    return refuse("NameError", fmt::format("there is no tool named '{}'", call.name), "tool");
  if (auto hit = limits_.Admit(call.args.size() + SharedBytesOf(call.args, shared, SharedBytes::kCount))) {
    owner_.OnCallLimit(*hit);
    return refuse("ToolError", std::move(hit->message), "limit");
  }
  if (!HasCallsLeft(in_flight->second.tool->spec()))
    return refuse("ToolError",
                  fmt::format("{}() may be called {} times in a cell, and was", call.name,
                              *in_flight->second.tool->spec().max_calls_per_cell),
                  "limit");
  auto decoded = DecodeWithin(budget_, call.args, &shared);
  call.args.clear();  // what it had in shared memory has been given back, and may be in use again
  if (!decoded && decoded.error().code == ErrorCode::kResourceExhausted)
    return refuse("ToolError", "the calls in flight hold " + decoded.error().message, "limit");
  if (!decoded || !decoded->value.is_map()) return owner_.Violate("a tool call without arguments");
  in_flight->second.cost = decoded->cost;
  if (continues) return Start(call.call, in_flight->second, std::move(decoded->value.as_map()));
  const ToolDecision decision = Judge(call.name, decoded->value);
  if (decision.effect == Effect::kDeny)
    return refuse("PermissionError",
                  fmt::format("this call of {} is denied by the policy ({})", call.name, decision.reason),
                  "tool");
  if (environment_.hook)
    return AskHookAbout(call.call, in_flight->second, decision, std::move(decoded->value));
  Decide(call.call, in_flight->second, decision, std::move(decoded->value));
}

bool CellCalls::HasCallsLeft(const ToolSpec& spec) {
  return !spec.max_calls_per_cell || ++calls_of_[spec.name] <= *spec.max_calls_per_cell;
}

void CellCalls::Decide(std::uint64_t call, InFlight& in_flight, const ToolDecision& decision,
                       Value arguments) {
  if (decision.effect == Effect::kAsk) return AskFor(in_flight, decision, std::move(arguments));
  Start(call, in_flight, std::move(arguments.as_map()));
}

void CellCalls::AskHookAbout(std::uint64_t call, InFlight& in_flight, const ToolDecision& decision,
                             Value arguments) {
  HookQuestion question;
  question.subject = HookQuestion::Subject::kToolCall;
  question.session = environment_.session;
  question.tool = in_flight.tool->spec().name;
  question.verdict = decision.effect;
  question.reason = decision.reason;
  in_flight.before_hook = decision;
  environment_.dispatcher.Dispatch(
      {call, cell_,
       std::make_shared<HookCall>(environment_.hook, environment_.hook_time, std::move(question)),
       std::move(arguments.as_map()), owner_.deadline()});
}

void CellCalls::OnHookAnswer(std::uint64_t call, InFlight& in_flight, CompletedCall& completed) {
  ToolDecision decision = *std::exchange(in_flight.before_hook, std::nullopt);
  const std::string word = completed.record.result.TextOr("decision", "deny");
  const std::string reason = completed.record.result.TextOr("reason", completed.record.error);
  const std::string tool = in_flight.tool->spec().name;
  if (word == EffectName(Effect::kDeny))
    return Refuse(call, tool, "PermissionError",
                  fmt::format("this call of {} is denied by the decision hook ({}): {}", tool,
                              environment_.hook->name(), GivenReason(reason)),
                  "hook");
  if (word == EffectName(Effect::kAsk) && decision.effect == Effect::kAllow)
    decision.reason = fmt::format("the decision hook ({}) asks for it{}{}", environment_.hook->name(),
                                  reason.empty() ? "" : ": ", reason);
  if (word == EffectName(Effect::kAsk)) decision.effect = Effect::kAsk;
  Decide(call, in_flight, decision, std::move(completed.record.args));
}

ToolDecision CellCalls::Judge(const std::string& tool, const Value& arguments) const {
  return environment_.gate.Decide(tool, [&](std::string_view name) -> std::optional<PolicyArgument> {
    const Value* argument = arguments.Find(name);
    return argument ? std::optional(ToPolicyArgument(*argument)) : std::nullopt;
  });
}

// Waits without holding up anything: the answer wakes the loop of the cell.
void CellCalls::AskFor(InFlight& in_flight, const ToolDecision& decision, Value arguments) {
  ApprovalRequest request;
  request.cell = cell_;
  request.tool = in_flight.tool->spec().name;
  request.arguments = std::move(arguments);
  request.reason = decision.reason;
  request.grant = fmt::format("calls of {} by {}", request.tool, decision.reason);
  ++waiting_;
  in_flight.approval = environment_.desk.Ask(std::move(request));
}

void CellCalls::AnswerDecided() {
  for (auto next = in_flight_.begin(); waiting_ > 0 && next != in_flight_.end();) {
    const auto [call, in_flight] = std::tie(next->first, next->second);
    ++next;
    if (!in_flight.approval) continue;
    if (auto decision = environment_.desk.Settle(*in_flight.approval))
      OnDecision(call, in_flight, std::move(*decision));
  }
}

void CellCalls::OnDecision(std::uint64_t call, InFlight& in_flight, ApprovalDecision decision) {
  const std::shared_ptr<PendingApproval> approval = std::exchange(in_flight.approval, nullptr);
  --waiting_;
  const std::string& tool = approval->request().tool;
  if (!decision.allowed)
    return Refuse(call, tool, "PermissionError",
                  fmt::format("this call of {} needs a person's approval ({}) and did not get it: {}", tool,
                              approval->request().reason, GivenReason(decision.reason)),
                  "approval");
  Value arguments =
      decision.arguments ? Value(std::move(*decision.arguments)) : approval->request().arguments;
  // What a person put in the place of the arguments is the policy's to judge as well.
  if (const ToolDecision judged = Judge(tool, arguments); judged.effect == Effect::kDeny)
    return Refuse(call, tool, "PermissionError",
                  fmt::format("this call of {} is denied by the policy ({})", tool, judged.reason), "tool");
  Start(call, in_flight, std::move(arguments.as_map()));
}

void CellCalls::WithdrawApprovals() {
  for (auto& [call, in_flight] : in_flight_) {
    if (in_flight.approval) environment_.desk.Withdraw(*std::exchange(in_flight.approval, nullptr));
  }
  waiting_ = 0;
}

void CellCalls::Start(std::uint64_t call, InFlight& in_flight, Value::Map arguments) {
  const ToolSpec& spec = in_flight.tool->spec();
  Value bound(std::move(arguments));
  if (environment_.sink) environment_.sink->OnToolStart(environment_.session, cell_, call, spec.name, bound);
  if (spec.timeout) in_flight.deadline = Deadline::After(*spec.timeout);
  // The deadline of a cell whose clock stands still is not known yet.
  in_flight.asks = spec.waits_for_person;
  if (in_flight.asks) ++asking_;
  const Deadline cell_deadline = in_flight.asks ? Deadline::Never() : owner_.deadline();
  DispatchedCall dispatched{
      call, cell_, in_flight.tool, std::move(bound.as_map()), Earlier(cell_deadline, in_flight.deadline),
      {},   {}};
  if (environment_.sink) {
    dispatched.on_progress = [sink = environment_.sink, session = environment_.session, cell = cell_, call,
                              name = spec.name](const ToolProgress& progress) {
      sink->OnToolProgress(session, cell, call, name, progress);
    };
  }
  if (!spec.is_quick || spec.timeout || in_flight.asks) {
    dispatched.on_ask = [questions = questions_, name = spec.name](CallContext& context, std::string reason,
                                                                   Value details) {
      return questions->Ask(context, name, std::move(reason), std::move(details));
    };
    return environment_.dispatcher.Dispatch(std::move(dispatched));
  }
  CompletedCall completed = environment_.dispatcher.Perform(dispatched);
  Answer(completed);
}

void CellCalls::Refuse(std::uint64_t call, std::string tool, std::string type, std::string message,
                       std::string rule) {
  if (++refused_ > kMaxRefused) return owner_.OnTooManyRefused();
  owner_.AddRefusal({"host", std::move(rule), std::move(tool), message});
  Release(in_flight_.find(call));
  Send({call, false, {}, std::move(type), std::move(message)});
}

void CellCalls::Release(std::map<std::uint64_t, InFlight>::iterator ended) {
  budget_.Release(ended->second.cost);
  if (ended->second.asks) --asking_;
  in_flight_.erase(ended);
}

void CellCalls::AnswerCompleted() {
  for (CompletedCall& completed : environment_.dispatcher.TakeCompleted()) Answer(completed);
}

Result<wire::Encoded> CellCalls::EncodeResult(const ToolCallRecord& record) {
  if (const Status fits = CheckCrossable(record.result); !fits)
    return Fail(ErrorCode::kInternal, fmt::format("{}() returned a value that cannot cross to the cell: {}",
                                                  record.name, fits.error().message));
  CborWriter writer(process_.channel().outgoing());
  WriteValue(writer, record.result);
  if (auto hit = limits_.CheckSize(writer.total_bytes())) {
    std::string message = fmt::format("{}() returned too much: {}", record.name, hit->message);
    owner_.OnCallLimit(std::move(*hit));
    return Fail(ErrorCode::kInternal, std::move(message));
  }
  return writer.Take();
}

void CellCalls::Answer(CompletedCall& completed) {
  const auto in_flight = in_flight_.find(completed.call);
  if (completed.cell != cell_ || in_flight == in_flight_.end()) return;
  if (in_flight->second.before_hook) return OnHookAnswer(completed.call, in_flight->second, completed);
  // The tool itself has noticed that its time is up, which is for AnswerLate to say.
  if (!completed.record.ok && completed.error.code == ErrorCode::kDeadlineExceeded &&
      in_flight->second.deadline.passed())
    return AnswerLate();
  Release(in_flight);
  ToolCallRecord& record = completed.record;
  record.call = completed.call;
  wire::ToolReply reply{completed.call, record.ok, {}, {}, {}};
  if (record.ok) {
    auto encoded = EncodeResult(record);
    if (encoded) {
      reply.value = std::move(*encoded);
    } else {
      reply.ok = record.ok = false;
      completed.error = std::move(encoded).error();
      record.error = completed.error.message;
      record.result = Value();
    }
  }
  if (!reply.ok) {
    reply.error_type = completed.error.code == ErrorCode::kInvalidArgument ? "TypeError" : "ToolError";
    reply.error_message = ToValidUtf8(completed.error.message);
    record.error_type = reply.error_type;
  }
  if (!Send(reply)) {
    record.ok = false;
    record.error = "the result is too large to send";
    record.error_type = "ToolError";
  }
  for (const Value& display : record.displays) owner_.Show(display);
  owner_.Record(std::move(record));
}

void CellCalls::AnswerLate() {
  for (auto late = in_flight_.begin(); late != in_flight_.end();) {
    if (!late->second.deadline.passed()) {
      ++late;
      continue;
    }
    const std::uint64_t call = late->first;
    const ToolSpec& spec = late->second.tool->spec();
    ToolCallRecord record;
    record.call = call;
    record.name = spec.name;
    record.args = Value(Value::Map());
    record.duration = *spec.timeout;
    record.error =
        fmt::format("{}() did not answer within its time limit of {}", spec.name, Seconds(*spec.timeout));
    record.error_type = "ToolTimeoutError";
    Release(late++);
    environment_.dispatcher.StopCall(cell_, call);
    Send({call, false, {}, "ToolTimeoutError", record.error});
    owner_.Record(std::move(record));
  }
}

// False where the reply was too large; the call then gets an error in its place.
bool CellCalls::Send(const wire::ToolReply& reply) {
  const auto sent = process_.channel().Send(wire::Encode(wire::HostMessage(reply)),
                                            Earlier(owner_.deadline(), Deadline::After(kSendPatience)));
  if (sent) return true;
  if (sent.error().code == ErrorCode::kResourceExhausted) {
    Send({reply.call, false, {}, "ToolError", sent.error().message});
  } else if (sent.error().code == ErrorCode::kDeadlineExceeded) {
    owner_.OnHalfAnswer();
  }
  return false;
}

}  // namespace gloveport
