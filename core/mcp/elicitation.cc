#include "gloveport/core/mcp/elicitation.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <utility>

#include "gloveport/core/mcp/json_rpc.h"
#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/mcp/schema_text.h"
#include "gloveport/core/mcp/tool_signature.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxMessageBytes = 2000;
constexpr std::size_t kMaxFields = 32;
constexpr std::size_t kMaxFieldNameBytes = 64;
constexpr std::size_t kMaxFieldTextBytes = 200;
constexpr std::size_t kMaxOpen = 4;  // at a time, of one server

// Numbers of the session's own approvals count from 1 up; these never meet them, and stay exact in JSON.
std::uint64_t NextId() {
  static std::atomic<std::uint64_t> next{std::uint64_t{1} << 52};
  return next++;
}

bool IsPrimitive(const Json& schema) {
  const std::string type = TextOf(schema, "type");
  if (type == "array") return MemberOf(schema, "items").is_object();  // of choices
  return type == "string" || type == "number" || type == "integer" || type == "boolean";
}

// The values that a field may have; empty where any may stand there.
std::vector<Json> Choices(const Json& schema) {
  std::vector<Json> choices;
  for (const Json& value : MemberOf(schema, "enum")) choices.push_back(value);
  for (const char* keyword : {"oneOf", "anyOf"}) {
    for (const Json& choice : MemberOf(schema, keyword)) choices.push_back(MemberOf(choice, "const"));
  }
  return choices;
}

bool HasType(const Json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return value.is_array();
}

bool IsOneOf(const Json& value, const std::vector<Json>& choices) {
  return choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end();
}

bool Fits(const Json& value, const Json& schema) {
  if (!HasType(value, TextOf(schema, "type"))) return false;
  if (!value.is_array()) return IsOneOf(value, Choices(schema));
  const std::vector<Json> choices = Choices(MemberOf(schema, "items"));
  return std::all_of(value.begin(), value.end(), [&](const Json& item) { return IsOneOf(item, choices); });
}

bool IsRequired(const Json& schema, const std::string& key) {
  const Json& required = MemberOf(schema, "required");
  return required.is_array() && std::find(required.begin(), required.end(), Json(key)) != required.end();
}

std::string FieldText(const std::string& name, const Json& schema, bool required) {
  std::string text = TextOf(schema, "description");
  if (text.empty()) text = TextOf(schema, "title");
  return fmt::format("\n  {}: {}{}{}", name, AnnotationOf(schema), required ? " (required)" : "",
                     text.empty() ? "" : " - " + CleanLine(text, kMaxFieldTextBytes));
}

}  // namespace

Result<ElicitationForm> ParseElicitation(const Json& params) {
  const std::string mode = TextOf(params, "mode");
  if (!mode.empty() && mode != "form")
    return Fail(ErrorCode::kInvalidArgument, "this client can answer elicitations of the mode \"form\" only");
  ElicitationForm form;
  // On one line: no line of the question may look like one of ours.
  form.message = CleanLine(TextOf(params, "message"), kMaxMessageBytes);
  form.fields = Value(Value::Map());
  form.schema = MemberOf(params, "requestedSchema");
  const Json& properties = MemberOf(form.schema, "properties");
  if (!form.schema.is_object()) return Fail(ErrorCode::kInvalidArgument, "\"requestedSchema\" is no object");
  if (properties.size() > kMaxFields)
    return Fail(ErrorCode::kInvalidArgument, "the form has too many fields");
  for (const auto& [name, schema] : properties.items()) {
    if (name.empty() || CleanLine(name, kMaxFieldNameBytes) != name || !IsPrimitive(schema))
      return Fail(ErrorCode::kInvalidArgument, "a field of the form has no plain name or no primitive type");
    form.fields.Set(name, ValueOfPlainJson(MemberOf(schema, "default")));
    form.message += FieldText(name, schema, IsRequired(form.schema, name));
  }
  return form;
}

Status CheckElicited(const ElicitationForm& form, Value::Map& content) {
  std::erase_if(content, [](const auto& member) { return member.second.is_null(); });
  const Value as_value{Value::Map(content)};
  ASSIGN_OR_RETURN(const Json json, PlainJsonOf(as_value, "the form"));
  for (const auto& [name, schema] : MemberOf(form.schema, "properties").items()) {
    const Json* value = Member(json, name);
    if (value == nullptr && IsRequired(form.schema, name))
      return Fail(ErrorCode::kInvalidArgument, fmt::format("the field {} is required", name));
    if (value != nullptr && !Fits(*value, schema))
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("the field {} must be {}", name, AnnotationOf(schema)));
  }
  for (const auto& [name, value] : json.items()) {
    if (!MemberOf(form.schema, "properties").contains(name))
      return Fail(ErrorCode::kInvalidArgument, fmt::format("the form has no field {}", CleanLine(name, 64)));
  }
  return {};
}

std::string ElicitationQuestion(const ElicitationForm& form, std::string_view server) {
  return fmt::format("MCP server {} asks you: {}\nTo fill in the form, edit the arguments.", server,
                     form.message);
}

Json ElicitationAnswer(const ElicitationForm& form, const ApprovalDecision& decision) {
  if (!decision.allowed) return {{"action", "decline"}};
  Value::Map content = decision.arguments ? *decision.arguments : form.fields.as_map();
  if (!CheckElicited(form, content)) return {{"action", "cancel"}};
  auto json = PlainJsonOf(Value(std::move(content)), "the form");
  return {{"action", "accept"}, {"content", json.value_or(Json::object())}};
}

ApprovalRequest Elicitor::MakeRequest(const ElicitationForm& form, Deadline deadline) const {
  ApprovalRequest request;
  request.id = NextId();
  request.subject = ApprovalSubject::kToolCall;
  request.tool = server_ + ".elicitation";
  request.arguments = form.fields;
  request.reason = ElicitationQuestion(form, server_);
  request.deadline = deadline;
  return request;
}

void Elicitor::Ask(const ElicitationForm& form, Deadline deadline, Answer answer) {
  if (!available()) return answer({{"action", "decline"}});
  const ApprovalRequest request = MakeRequest(form, deadline);
  {
    const std::lock_guard lock(mutex_);
    if (open_.size() < kMaxOpen) open_[request.id] = std::exchange(answer, nullptr);
  }
  if (answer) return answer({{"action", "decline"}});
  approver_->Ask(request, [self = weak_from_this(), form, id = request.id](const ApprovalDecision& decision) {
    if (const auto elicitor = self.lock()) elicitor->Take(id, form, decision);
  });
}

void Elicitor::Take(std::uint64_t id, const ElicitationForm& form, const ApprovalDecision& decision) {
  Finish(id, ElicitationAnswer(form, decision));
}

void Elicitor::Finish(std::uint64_t id, Json result) {
  Answer answer;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(id);
    if (found == open_.end()) return;
    answer = std::move(found->second);
    open_.erase(found);
  }
  answer(std::move(result));
}

Json Elicitor::AskAndWait(const ElicitationForm& form, Deadline deadline, const std::stop_token& stop) {
  struct State {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::optional<Json> result;
  };
  const auto state = std::make_shared<State>();
  Ask(form, deadline, [state](Json result) {
    const std::lock_guard lock(state->mutex);
    state->result = std::move(result);
    state->changed.notify_all();
  });
  std::unique_lock lock(state->mutex);
  const auto answered = [&] { return state->result.has_value(); };
  if (deadline.never()) {
    state->changed.wait(lock, stop, answered);
  } else {
    state->changed.wait_until(lock, stop, deadline.when(), answered);
  }
  return state->result.value_or(Json{{"action", "cancel"}});
}

void Elicitor::WithdrawAll() {
  std::map<std::uint64_t, Answer> open;
  {
    const std::lock_guard lock(mutex_);
    open = std::exchange(open_, {});
  }
  for (const auto& [id, answer] : open) {
    approver_->Withdraw(id);
    answer({{"action", "cancel"}});
  }
}

}  // namespace gloveport
