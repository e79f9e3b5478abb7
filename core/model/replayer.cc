#include "gloveport/core/model/replayer.h"

#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxRecordingBytes = 256u << 20;

}  // namespace

Result<std::unique_ptr<Replayer>> Replayer::Load(const std::filesystem::path& file, ReplayMatch match) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxRecordingBytes));
  std::vector<Exchange> exchanges;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++number;
    if (Trim(line).empty()) continue;
    auto exchange = ParseExchange(
        line, exchanges.empty() ? std::vector<ChatMessage>() : exchanges.back().request.messages);
    if (!exchange) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}, line {}: {}", file.string(), number, exchange.error().message),
                  "each line is one exchange as record:FILE=MODEL writes it");
    }
    exchanges.push_back(std::move(*exchange));
  }
  if (exchanges.empty())
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} holds no exchanges", file.string()));
  return std::make_unique<Replayer>(file.string(), std::move(exchanges), match);
}

Replayer::Replayer(std::string source, std::vector<Exchange> exchanges, ReplayMatch match)
    : source_(std::move(source)),
      name_("replay:" + source_),
      exchanges_(std::move(exchanges)),
      match_(match),
      form_(exchanges_.empty() ? ActionForm::kText : exchanges_.front().request.form),
      played_(exchanges_.size()) {}

Result<std::size_t> Replayer::Choose(const ChatRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto next =
      static_cast<std::size_t>(std::find(played_.begin(), played_.end(), false) - played_.begin());
  if (next == exchanges_.size()) {
    return Fail(ErrorCode::kClosed,
                fmt::format("the recording {} has ended: it holds {} exchange{} and one more was asked for",
                            source_, exchanges_.size(), exchanges_.size() == 1 ? "" : "s"),
                "record the run again");
  }
  std::optional<std::string> difference;
  for (std::size_t i = next; i < exchanges_.size(); ++i) {
    if (played_[i]) continue;
    auto found =
        match_ == ReplayMatch::kOrder ? std::nullopt : FirstDifference(exchanges_[i].request, request);
    if (!found) {
      played_[i] = true;
      return i;
    }
    if (!difference) difference = std::move(found);
  }
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("exchange {} of {} was recorded for another request: {}", next + 1, source_, *difference),
      "record the run again, or play the replies by order alone: replay:FILE?match=order");
}

Result<ChatReply> Replayer::Complete(const ChatRequest& request) {
  if (request.cancel.stop_requested()) {
    return Fail(ErrorCode::kClosed, fmt::format("cancelled before the next reply of {}", source_));
  }
  if (request.deadline.passed()) {
    return Fail(ErrorCode::kDeadlineExceeded,
                fmt::format("no time is left for the next reply of {}", source_));
  }
  ASSIGN_OR_RETURN(const std::size_t index, Choose(request));
  const Result<ChatReply>& reply = exchanges_[index].reply;
  if (reply) PlayDeltas(request, *reply);
  return reply;
}

}  // namespace gloveport
