#include "gloveport/core/record/replay_tools.h"

#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <utility>

#include "gloveport/core/host/sha256.h"
#include "gloveport/core/record/tool_spec_json.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

class RecordedTool : public Tool {
 public:
  RecordedTool(ToolSpec spec, std::shared_ptr<RecordedAnswers> answers)
      : spec_(std::move(spec)), answers_(std::move(answers)) {}

  const ToolSpec& spec() const override { return spec_; }

  std::shared_ptr<Tool> continuation() const override {
    if (!spec_.is_stream) return nullptr;
    ToolSpec next;
    next.name = spec_.name + std::string(kContinuationSuffix);
    return std::make_shared<RecordedTool>(std::move(next), answers_);
  }

  Result<Value> Call(const Arguments& arguments, CallContext& context) override {
    const std::string hash = Sha256Hex(DumpJson(ToJson(Value(arguments.all()))));
    const Json answer = answers_->Take(spec_.name, hash);
    if (answer.is_null())
      return Fail(ErrorCode::kNotFound,
                  fmt::format("the record has no answer of {} for these arguments", spec_.name));
    if (FlagOf(answer, "ok")) {
      for (const Json& display : MemberOf(answer, "displays")) {
        ASSIGN_OR_RETURN(Value bundle, Recorded(display));
        context.displays.push_back(std::move(bundle));
      }
      return Recorded(MemberOf(answer, "result"));
    }
    const std::string type = TextOf(answer, "error_type");
    if (type == "ToolTimeoutError") WaitUntilStopped(context);
    return Fail(type == "TypeError" ? ErrorCode::kInvalidArgument : ErrorCode::kIo, TextOf(answer, "error"));
  }

 private:
  Result<Value> Recorded(const Json& result) const {
    if (!result.contains("value") || FlagOf(result, "redacted"))
      return Fail(ErrorCode::kNotFound,
                  fmt::format("the record does not hold this answer of {} in full", spec_.name));
    return FromJson(result["value"]);
  }

  // The call was given up for its time limit: so it is again.
  static void WaitUntilStopped(const CallContext& context) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, context.stop, context.deadline.left(), [] { return false; });
  }

  const ToolSpec spec_;
  const std::shared_ptr<RecordedAnswers> answers_;
};

}  // namespace

void RecordedAnswers::Add(const Json& call, const Json& result) {
  const std::lock_guard lock(mutex_);
  answers_[{TextOf(call, "tool"), TextOf(MemberOf(call, "args"), "sha256")}].push_back(result);
}

Json RecordedAnswers::Take(const std::string& tool, const std::string& args_sha256) {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find({tool, args_sha256});
  if (found == answers_.end() || found->second.empty()) return {};
  Json answer = std::move(found->second.front());
  found->second.pop_front();
  return answer;
}

Result<std::shared_ptr<const ToolRegistry>> ReplayTools(const Json& specs,
                                                        std::shared_ptr<RecordedAnswers> answers,
                                                        std::shared_ptr<const ToolRegistry> live) {
  auto tools = std::make_shared<ToolRegistry>();
  for (const Json& json : specs) {
    ASSIGN_OR_RETURN(ToolSpec spec, ReadToolSpec(json));
    auto tool = live ? live->Find(spec.name) : nullptr;
    if (!tool) tool = std::make_shared<RecordedTool>(std::move(spec), answers);
    RETURN_IF_ERROR(tools->Add(std::move(tool)));
  }
  return tools;
}

void RecordedApprover::Add(const Json& decision) {
  const std::lock_guard lock(mutex_);
  decisions_[TextOf(decision, "sha256")].push_back(decision);
}

void RecordedApprover::Ask(const ApprovalRequest& request, Answer answer) {
  ApprovalDecision decision;
  decision.by = "record";
  decision.reason = "the record knows of no decision about this";
  {
    const std::lock_guard lock(mutex_);
    const auto found = decisions_.find(request.sha256);
    if (found != decisions_.end() && !found->second.empty()) {
      const Json& recorded = found->second.front();
      decision.allowed = FlagOf(recorded, "allowed");
      decision.always = FlagOf(recorded, "always");
      decision.reason = TextOf(recorded, "reason");
      decision.by = TextOf(recorded, "by");
      const Json& edited = MemberOf(recorded, "edited");
      if (edited.contains("code")) decision.code = TextOf(edited, "code");
      if (auto value = edited.contains("value") ? FromJson(edited["value"]) : Result<Value>(Value());
          value && value->is_map())
        decision.arguments = std::move(value->as_map());
      found->second.pop_front();
    }
  }
  answer(std::move(decision));
}

}  // namespace gloveport
