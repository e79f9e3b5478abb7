#include "gloveport/core/model/event_stream.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/model/server_error.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxJsonDepth = 64;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool SaysEventStream(std::string_view type) {
  constexpr std::string_view kType = "text/event-stream";
  return type.size() >= kType.size() && EqualsIgnoringCase(type.substr(0, kType.size()), kType);
}

std::string_view WithoutMarkAndSpace(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? "" : text.substr(begin);
}

constexpr std::array<std::string_view, 5> kFields = {"data", "event", "id", "retry", ":"};

bool BeginsLikeEvents(std::string_view text) {
  return std::any_of(kFields.begin(), kFields.end(),
                     [&](std::string_view field) { return text.starts_with(field); });
}

bool MayBecomeEvents(std::string_view text) {
  return std::any_of(kFields.begin(), kFields.end(),
                     [&](std::string_view field) { return field.starts_with(text); });
}

tl::unexpected<Error> TooLarge(std::string_view what, std::size_t max_bytes) {
  return Fail(ErrorCode::kResourceExhausted,
              fmt::format("{} is larger than the {} bytes that are allowed", what, max_bytes));
}

}  // namespace

const Json* StreamHandler::ErrorIn(std::string_view name, const Json& data) const {
  if (const Json* error = Member(data, "error")) return error;
  return name == "error" || TextOf(data, "type") == "error" ? &data : nullptr;
}

EventStream::EventStream(StreamHandler& handler, std::size_t max_bytes, SseLimits limits)
    : handler_(handler),
      max_bytes_(max_bytes),
      parser_([this](const SseEvent& event) { return TakeEvent(event); }, limits) {}

void EventStream::TakeHead(const HttpResponse& head) {
  const std::string* type = FindHeader(head.headers, "content-type");
  type_ = type ? *type : "";
}

// By what the body says: types are often wrong ("text/plain" before events, "text/event-stream" before a JSON
// error).
void EventStream::Decide() {
  const std::string_view text = WithoutMarkAndSpace(document_);
  if (text.empty() || kByteOrderMark.starts_with(text)) return;  // half a mark says nothing yet
  if (text.front() == '{' || text.front() == '[') {
    kind_ = Kind::kDocument;
  } else if (SaysEventStream(type_) || BeginsLikeEvents(text)) {
    kind_ = Kind::kEvents;
  } else if (!MayBecomeEvents(text)) {
    FailWith({ErrorCode::kProtocol,
              fmt::format("it is neither an event stream nor JSON ({})",
                          type_.empty() ? "of no stated type" : type_),
              ""});
  }
}

Status EventStream::Route(std::string_view piece) {
  if (kind_ == Kind::kEvents) return parser_.Feed(piece);
  if (piece.size() > max_bytes_ - document_.size()) return TooLarge("the answer", max_bytes_);
  document_ += piece;
  if (kind_ == Kind::kUndecided) Decide();
  if (kind_ != Kind::kEvents) return {};
  return parser_.Feed(std::exchange(document_, {}));
}

bool EventStream::TakeBody(std::string_view piece) {
  if (auto taken = Route(piece); !taken && !done_ && !failure_) FailWith(taken.error());
  return !done_ && !failure_;
}

void EventStream::FailWith(Error error) {
  if (!failure_) failure_ = Failure{std::move(error), false};
}

// Returns an error so that the parser reads no further.
Status EventStream::FailForServer(const Json& error) {
  const ServerError read = ReadServerError(error);
  failure_ = Failure{{read.code, "the stream reports an error: " + read.message, ""}, read.again};
  return Fail(read.code, "");
}

Status EventStream::TakeEvent(const SseEvent& event) {
  constexpr const char* kEnough = "no more is read";
  if (Trim(event.data) == "[DONE]") {
    done_ = handler_.OnDone();
    if (!done_) CutBy(Error{ErrorCode::kIo, "the stream says that it is done", ""});
    return Fail(ErrorCode::kClosed, kEnough);
  }
  const auto data = ParseJson(event.data, {.max_depth = kMaxJsonDepth});
  // The parser's own words could repeat half of a secret.
  if (!data) return Fail(ErrorCode::kProtocol, "an event of the stream is no JSON");
  if (const Json* error = handler_.ErrorIn(event.name, *data)) return FailForServer(*error);
  auto step = handler_.OnEvent(event.name, *data);
  if (!step)
    return Fail(ErrorCode::kProtocol, "an event of the stream has the wrong form: " + step.error().message);
  if (handler_.bytes() > max_bytes_) return TooLarge("the text of the stream", max_bytes_);
  if (*step == StreamStep::kMore) return {};
  done_ = true;
  return Fail(ErrorCode::kClosed, kEnough);
}

void EventStream::CutBy(const std::optional<Error>& failure) {
  const Error how = failure.value_or(Error{ErrorCode::kIo, "the connection was closed", ""});
  const bool cut = how.code == ErrorCode::kIo;
  const std::string reached = handler_.bytes() == 0
                                  ? "before the reply began"
                                  : fmt::format("after {} bytes of the reply", handler_.bytes());
  failure_ =
      Failure{{how.code, fmt::format("the stream {} {}: {}", cut ? "was cut" : "ended", reached, how.message),
               cut ? "what arrived is not the whole reply; ask again" : how.hint},
              cut};
}

void EventStream::End(const std::optional<Error>& failure) {
  if (done_ || failure_) return;
  if (!failure && kind_ == Kind::kEvents) {
    if (auto taken = parser_.End(); !taken && !done_ && !failure_) FailWith(taken.error());
    if (done_ || failure_) return;
  }
  if (!failure && kind_ == Kind::kDocument) return;
  // A stream that is cut behind the last word of the reply has lost nothing but its end mark.
  const bool cancelled = failure && failure->code == ErrorCode::kClosed;
  if (handler_.whole() && !cancelled) {
    done_ = true;
    return;
  }
  CutBy(failure);
}

}  // namespace gloveport
