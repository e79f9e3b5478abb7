#include "gloveport/core/model/scripted.h"

#include <fmt/core.h>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/model/recording.h"
#include "gloveport/core/model/reply_builder.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxScriptBytes = 16u << 20;
constexpr const char* kForm = "each line is one object such as {\"content\": \"the model's answer\"}";

Result<std::string> ParseAnswer(std::string_view line, const std::string& place) {
  const auto parsed = ParseJson(line, {.max_bytes = kMaxScriptBytes, .max_depth = 16});
  const auto malformed = [&](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", place, why), kForm);
  };
  if (!parsed) return malformed(parsed.error().message);
  if (!parsed->is_object()) return malformed("this is no JSON object");
  for (const auto& [key, value] : parsed->items()) {
    if (key != "content" && key != "note")
      return malformed(fmt::format("unknown key \"{}\"", EscapeForTerminal(key)));
    if (!value.is_string()) return malformed(fmt::format("\"{}\" is no text", key));
  }
  const auto content = parsed->find("content");
  if (content == parsed->end()) return malformed("\"content\" is missing");
  return content->get<std::string>();
}

}  // namespace

Result<std::unique_ptr<Scripted>> Scripted::Load(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxScriptBytes));
  std::vector<std::string> answers;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++number;
    const std::string_view trimmed = Trim(line);
    if (trimmed.empty() || trimmed.starts_with('#')) continue;
    ASSIGN_OR_RETURN(auto answer, ParseAnswer(trimmed, fmt::format("{}, line {}", file.string(), number)));
    answers.push_back(std::move(answer));
  }
  if (answers.empty()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} holds no answers", file.string()), kForm);
  }
  return std::make_unique<Scripted>(file.string(), std::move(answers));
}

Scripted::Scripted(std::string source, std::vector<std::string> answers)
    : source_(std::move(source)), name_("scripted:" + source_), answers_(std::move(answers)) {}

Result<ChatReply> Scripted::Complete(const ChatRequest& request) {
  if (request.cancel.stop_requested()) {
    return Fail(ErrorCode::kClosed, fmt::format("cancelled before the next answer of {}", source_));
  }
  if (request.deadline.passed()) {
    return Fail(ErrorCode::kDeadlineExceeded,
                fmt::format("no time is left for the next answer of {}", source_));
  }
  const std::size_t index = next_.fetch_add(1);
  if (index >= answers_.size()) {
    return Fail(ErrorCode::kClosed,
                fmt::format("the script {} has ended: it holds {} answer{} and answer {} was asked for",
                            source_, answers_.size(), answers_.size() == 1 ? "" : "s", index + 1),
                "add answers, the last of which calls final_answer, or allow fewer steps");
  }
  ReplyBuilder builder(request, request.form);
  for (const auto piece : StreamPieces(answers_[index])) builder.AddContent(piece);
  builder.set_finish_reason("stop");
  return builder.Finish(name_);
}

}  // namespace gloveport
