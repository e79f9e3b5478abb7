#include "gloveport/core/serve/mcp/call_result.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/host/image.h"
#include "gloveport/core/host/result_json.h"
#include "gloveport/tools/python_stub.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxToolCalls = 200;  // that are listed; the cell's own log has all
constexpr std::size_t kMaxToolError = 500;

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

Json TextContent(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

std::string Cut(std::string_view text, std::size_t max_bytes) {
  return HeadAndTail(ToValidUtf8(text), max_bytes);
}

// What a display claims to be a PNG or JPEG and begins like one, as far as there is room.
class ImageTaker {
 public:
  explicit ImageTaker(std::size_t max_bytes) : left_(max_bytes) {}

  void Take(const Value& bundle) {
    if (!bundle.is_map()) return;
    for (const ImageKind kind : {ImageKind::kPng, ImageKind::kJpeg}) {
      for (const auto& [type, form] : bundle.as_map()) {
        if (!type.is_text() || type.as_text() != MimeTypeOf(kind)) continue;
        if (const auto image = ReadImage(kind, form)) return Add(*image);
      }
    }
  }

  const std::vector<Json>& images() const { return images_; }
  std::size_t left_out() const { return left_out_; }

 private:
  void Add(const Image& image) {
    if (image.data.size() > left_) {
      ++left_out_;
      return;
    }
    left_ -= image.data.size();
    images_.push_back({{"type", "image"},
                       {"data", EncodeBase64(AsBytes(image.data))},
                       {"mimeType", MimeTypeOf(image.kind)}});
  }

  std::size_t left_;
  std::vector<Json> images_;
  std::size_t left_out_ = 0;
};

Json ValueWithin(const Value& value, std::size_t max_bytes, const Redactor& redactor) {
  Json json = ToJson(value);
  // Written once to be measured: values are limited by the policy, so that this is bounded.
  const std::string text = DumpJson(json);
  return text.size() <= max_bytes && !redactor.Finds(text) ? json : Json();
}

Json ErrorJson(std::string_view type, std::string_view message, int line, std::string_view traceback) {
  return {{"type", type},
          {"message", message},
          {"line", line > 0 ? Json(line) : Json()},
          {"traceback", traceback}};
}

Json ErrorOf(const CellResult& result, const McpServerLimits& limits) {
  if (!result.error) return {};
  const PythonError& error = *result.error;
  // A line of another cell would point into code that this call does not have.
  const bool own = error.cell == static_cast<int>(result.cell);
  return ErrorJson(Cut(error.type, 200), Cut(error.message, limits.max_structured_text), own ? error.line : 0,
                   Cut(error.traceback, limits.max_structured_text));
}

Json ToolCallsOf(const CellResult& result, const Redactor& redactor) {
  Json list = Json::array();
  for (const ToolCallRecord& call : result.tool_calls) {
    if (list.size() == kMaxToolCalls) break;
    list.push_back({{"name", call.name},
                    {"ok", call.ok},
                    {"error", call.ok ? Json() : Json(Cut(redactor.Apply(call.error), kMaxToolError))},
                    {"duration_s", Seconds(call.duration)}});
  }
  return list;
}

Json FindingsOf(const CellResult& result) {
  Json list = Json::array();
  if (!result.verdict || result.outcome != Outcome::kDenied) return list;
  for (const Finding& finding : result.verdict->findings) {
    list.push_back({{"rule", finding.rule},
                    {"line", finding.line},
                    {"column", finding.column},
                    {"message", Cut(finding.message, kMaxToolError)},
                    {"hint", Cut(finding.hint, kMaxToolError)}});
  }
  return list;
}

Json StructuredOf(const CellResult& result, std::string_view session, std::size_t images,
                  const McpServerLimits& limits, const Redactor& redactor) {
  const bool has_value = !result.type.empty();
  const std::size_t most = limits.max_structured_text;
  return {{"status", OutcomeName(result.outcome)},
          {"session", session.empty() ? Json() : Json(session)},
          {"state", SessionStateName(session.empty() ? SessionState::kLost : result.state)},
          {"value", ValueWithin(result.value, limits.max_value_bytes, redactor)},
          {"repr", has_value ? Json(Cut(result.repr, most)) : Json()},
          {"type", has_value ? Json(Cut(result.type, 200)) : Json()},
          {"final_answer", result.final_answer
                               ? ValueWithin(result.final_answer->value, limits.max_value_bytes, redactor)
                               : Json()},
          {"stdout", Cut(result.out, most)},
          {"stderr", Cut(result.err, most)},
          {"error", ErrorOf(result, limits)},
          {"findings", FindingsOf(result)},
          {"tool_calls", ToolCallsOf(result, redactor)},
          {"images", images},
          {"duration_s", Seconds(result.usage.wall)}};
}

std::string TextOf(const CellResult& result, std::string_view code, std::string_view session,
                   const ImageTaker& images, const McpServerLimits& limits) {
  constexpr std::string_view kOpening = "Observation: c";
  std::string text = ObserveCell(result, code, limits.text);
  if (text.starts_with(kOpening)) text.replace(0, kOpening.size(), "C");
  if (result.final_answer)
    text += "final answer:\n" + Quote(HeadAndTail(result.final_answer->repr, limits.text.max_value));
  if (images.left_out() > 0)
    text += fmt::format("{} left out: larger than what is passed on.\n",
                        Counted(images.left_out(), "image was", "images were"));
  if (session.empty())
    return text + "The session was reset or ended meanwhile: its handle and variables are gone.\n";
  return text + fmt::format("session: {}\n", session);
}

std::string ErrorText(const Error& error) {
  return error.hint.empty() ? error.message : fmt::format("{}: {}", error.message, error.hint);
}

std::string_view TypeOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      return "ArgumentError";
    case ErrorCode::kResourceExhausted:
      return "LimitError";
    default:
      return "SessionError";
  }
}

Json ToolResult(Json content, Json structured, bool is_error) {
  return {
      {"content", std::move(content)}, {"structuredContent", std::move(structured)}, {"isError", is_error}};
}

}  // namespace

Json CellCallResult(const CellResult& as_it_was, std::string_view code, std::string_view session,
                    const McpServerLimits& limits, const Redactor& redactor) {
  CellResult result = Redacted(redactor, as_it_was);
  if (result.final_answer) result.final_answer->repr = redactor.Apply(result.final_answer->repr);
  ImageTaker images(limits.max_image_bytes);
  for (const Value& bundle : result.displays) images.Take(bundle);
  Json content = Json::array({TextContent(TextOf(result, code, session, images, limits))});
  for (const Json& image : images.images()) content.push_back(image);
  return ToolResult(std::move(content),
                    StructuredOf(result, session, images.images().size(), limits, redactor),
                    result.outcome != Outcome::kOk);
}

Json NotRunResult(const Error& error, std::optional<std::string_view> session) {
  const std::string text = ErrorText(error);
  Json structured = {{"status", "not_run"},
                     {"session", session ? Json(*session) : Json()},
                     {"state", "kept"},
                     {"value", nullptr},
                     {"repr", nullptr},
                     {"type", nullptr},
                     {"final_answer", nullptr},
                     {"stdout", ""},
                     {"stderr", ""},
                     {"error", ErrorJson(TypeOf(error), text, 0, "")},
                     {"findings", Json::array()},
                     {"tool_calls", Json::array()},
                     {"images", 0},
                     {"duration_s", 0}};
  return ToolResult(Json::array({TextContent("Nothing was run: " + text + "\n")}), std::move(structured),
                    true);
}

Json ResetResult(std::optional<std::string_view> session, std::size_t open_sessions) {
  const std::string text = session ? fmt::format("The session is empty.\nsession: {}\n", *session)
                                   : std::string("The session was ended.\n");
  return ToolResult(Json::array({TextContent(text)}),
                    {{"session", session ? Json(*session) : Json()}, {"open_sessions", open_sessions}},
                    false);
}

Json ToolListResult(const std::vector<ToolSpec>& tools) {
  Json list = Json::array();
  for (const ToolSpec& tool : tools) {
    list.push_back({{"name", tool.name}, {"signature", tool.Signature()}, {"description", tool.description}});
  }
  std::string stub = PythonStub(tools);
  std::string text =
      (tools.empty() ? "# The host offers no functions besides those of Python itself and these.\n" : "") +
      stub;
  return ToolResult(Json::array({TextContent(std::move(text))}),
                    {{"stub", std::move(stub)}, {"tools", std::move(list)}}, false);
}

Json ErrorResult(const Error& error) {
  return {{"content", Json::array({TextContent(ErrorText(error) + "\n")})}, {"isError", true}};
}

}  // namespace gloveport
