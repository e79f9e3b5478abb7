// The part of SessionImpl that asks the session something between two cells: variables, and what an editor
// wants to know. What comes back was said by a child: it is taken only where it has the agreed shape.
#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/base/text.h"
#include "gloveport/core/host/session_impl.h"
#include "gloveport/core/wire/cbor.h"

namespace gloveport {
namespace {

constexpr std::chrono::seconds kStopGrace{2};  // after which a question that does not stop ends the process
constexpr std::size_t kMaxCodeBytes = 8u << 20;

ErrorCode CodeOf(const wire::Reply& reply) {
  return reply.error_type == "TimeoutError" ? ErrorCode::kDeadlineExceeded : ErrorCode::kInvalidArgument;
}

// Of valid UTF-8.
std::size_t CharactersIn(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

tl::unexpected<Error> Malformed(std::string_view operation) {
  return Fail(ErrorCode::kProtocol,
              fmt::format("the session answered \"{}\" with something else", operation));
}

std::optional<std::string> TextAt(const Value& answer, std::string_view key) {
  const Value* found = answer.Find(key);
  return found != nullptr && found->is_text() ? std::optional(found->as_text()) : std::nullopt;
}

}  // namespace

// What runs no code of cells: there is nothing to be stopped first.
Result<wire::Reply> SessionImpl::AskSession(const std::string& operation, const Value& args) {
  const std::chrono::milliseconds patience = surroundings_.pool.templates().patience().answer;
  return KeepProcessIfAnswered(operation, process_->Ask(operation, args, Deadline::After(patience)));
}

Result<wire::Reply> SessionImpl::AskSession(const std::string& operation, const Value& args,
                                            std::chrono::milliseconds patience) {
  return KeepProcessIfAnswered(
      operation, process_->AskStoppable(operation, args, Deadline::After(patience), kStopGrace));
}

Result<wire::Reply> SessionImpl::KeepProcessIfAnswered(const std::string& operation,
                                                       Result<wire::Reply> reply) {
  if (reply || reply.error().code == ErrorCode::kResourceExhausted) return reply;
  DropProcess();  // a fresh one with the next call
  Error error = reply.error();
  error.message = fmt::format("the question \"{}\" cost the session its process: {}; its variables are lost",
                              operation, error.message);
  return tl::unexpected<Error>(std::move(error));
}

Status SessionImpl::SetVariable(std::string_view name, const Value& value) {
  if (const Status fits = CheckCrossable(value); !fits) {
    return Fail(fits.error().code,
                fmt::format("cannot set \"{}\": the value cannot cross: {}", name, fits.error().message));
  }
  const InUse use(*this);
  RETURN_IF_ERROR(Prepare());
  ASSIGN_OR_RETURN(const wire::Reply reply,
                   AskSession("set_variable", Value::Object({{"name", name}, {"value", value}}),
                              surroundings_.pool.templates().patience().answer));
  if (!reply.ok) return Fail(CodeOf(reply), fmt::format("cannot set \"{}\": {}", name, reply.error_message));
  if (sink_) sink_->OnVariableSet(id(), name, value);
  return {};
}

Result<Value> SessionImpl::GetVariable(std::string_view name) {
  const InUse use(*this);
  RETURN_IF_ERROR(Prepare());
  ASSIGN_OR_RETURN(const wire::Reply reply, AskSession("get_variable", Value::Object({{"name", name}}),
                                                       surroundings_.pool.templates().patience().answer));
  if (reply.ok) return DecodeValue(reply.value);
  const bool missing = reply.error_type == "KeyError" || reply.error_type == "NameError";
  return Fail(missing ? ErrorCode::kNotFound : CodeOf(reply),
              fmt::format("cannot get \"{}\": {}", name, reply.error_message));
}

// ---- an editor's questions ----

Result<Value> SessionImpl::AskAboutCode(const std::string& operation, std::string_view code,
                                        std::optional<std::size_t> cursor) {
  if (code.size() > kMaxCodeBytes) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("code of {} bytes; {} are allowed", code.size(), kMaxCodeBytes));
  }
  if (!IsValidUtf8(code)) return Fail(ErrorCode::kInvalidArgument, "the code is not valid UTF-8");
  const std::size_t length = CharactersIn(code);
  if (cursor.value_or(0) > length) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the cursor is at {}, in code of {} characters", *cursor, length));
  }
  const InUse use(*this);
  RETURN_IF_ERROR(Prepare());
  Value args = Value::Object({{"code", code}});
  if (operation != "is_complete") args.Set("cursor", Value(std::uint64_t{cursor.value_or(length)}));
  ASSIGN_OR_RETURN(const wire::Reply reply,
                   AskSession(operation, args, surroundings_.pool.templates().patience().question));
  if (!reply.ok)
    return Fail(CodeOf(reply),
                fmt::format("no answer to \"{}\": {}: {}", operation, reply.error_type, reply.error_message));
  return DecodeValue(reply.value);
}

Result<Completions> SessionImpl::Complete(std::string_view code, std::optional<std::size_t> cursor) {
  ASSIGN_OR_RETURN(const Value answer, AskAboutCode("complete", code, cursor));
  const Value* matches = answer.Find("matches");
  const std::int64_t start = answer.IntOr("start", -1);
  const std::int64_t end = answer.IntOr("end", -1);
  if (matches == nullptr || !matches->is_list() || start < 0 || end < start ||
      end > static_cast<std::int64_t>(code.size()))
    return Malformed("complete");
  Completions completions{{}, static_cast<std::size_t>(start), static_cast<std::size_t>(end)};
  for (const Value& match : matches->as_list()) {
    if (match.is_text())
      completions.matches.push_back(match.as_text());  // one that no code can hold is left out
  }
  return completions;
}

Result<NameInfo> SessionImpl::Inspect(std::string_view code, std::optional<std::size_t> cursor) {
  ASSIGN_OR_RETURN(const Value answer, AskAboutCode("inspect", code, cursor));
  if (!answer.is_map()) return Malformed("inspect");
  return NameInfo{answer.BoolOr("found", false), answer.TextOr("name", ""),   answer.TextOr("type", ""),
                  answer.TextOr("doc", ""),      TextAt(answer, "signature"), TextAt(answer, "repr"),
                  answer.TextOr("file", "")};
}

Result<CodeState> SessionImpl::IsComplete(std::string_view code) {
  ASSIGN_OR_RETURN(const Value answer, AskAboutCode("is_complete", code, {}));
  const std::string status = answer.TextOr("status", "");
  for (const Completeness each :
       {Completeness::kComplete, Completeness::kIncomplete, Completeness::kInvalid}) {
    if (CompletenessName(each) == status) return CodeState{each, answer.TextOr("indent", "")};
  }
  return Malformed("is_complete");
}

}  // namespace gloveport
