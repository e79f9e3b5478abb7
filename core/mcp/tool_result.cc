#include "gloveport/core/mcp/tool_result.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/mcp/json_rpc.h"
#include "gloveport/core/mcp/plain_schema.h"
#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxShownBytes = 200;
constexpr std::size_t kMaxMimeBytes = 100;
constexpr std::size_t kMaxShownProblems = 5;
constexpr std::size_t kMaxImages = 64;

tl::unexpected<Error> Broken(std::string_view problem) {
  return Fail(ErrorCode::kProtocol, fmt::format("the server's result is none: {}", problem));
}

Result<Value> BytesOf(const Json& item, std::string_view key) {
  const Json& data = MemberOf(item, key);
  auto bytes = data.is_string() ? DecodeBase64(data.get_ref<const std::string&>()) : std::nullopt;
  if (!bytes) return Broken(fmt::format("\"{}\" is no base64", key));
  return Value(std::move(*bytes));
}

std::string MimeOf(const Json& item) { return CleanLine(TextOf(item, "mimeType"), kMaxMimeBytes); }

Result<Value> ImageValue(const Json& item) {
  ASSIGN_OR_RETURN(Value data, BytesOf(item, "data"));
  return Value(Form::kImage, Value::Object({{"mime", Value(MimeOf(item))}, {"data", std::move(data)}}));
}

// {"uri", "mimeType", "text" or "blob"}.
Result<Value> EmbeddedValue(const Json& resource) {
  if (!resource.is_object()) return Broken("a resource is no object");
  Value value = Value::Object({{"type", "resource"}, {"uri", Value(TextOf(resource, "uri"))}});
  if (Member(resource, "mimeType")) value.Set("mimeType", Value(MimeOf(resource)));
  if (MemberOf(resource, "text").is_string()) {
    value.Set("text", Value(TextOf(resource, "text")));
  } else {
    ASSIGN_OR_RETURN(Value blob, BytesOf(resource, "blob"));
    value.Set("blob", std::move(blob));
  }
  return value;
}

Result<Value> AudioValue(const Json& item) {
  ASSIGN_OR_RETURN(Value data, BytesOf(item, "data"));
  return Value::Object({{"type", "audio"}, {"mimeType", Value(MimeOf(item))}, {"data", std::move(data)}});
}

Value LinkValue(const Json& item) {
  Value value = Value::Object({{"type", "resource_link"}});
  for (const char* key : {"uri", "name", "title", "description", "mimeType"}) {
    if (MemberOf(item, key).is_string()) value.Set(key, Value(TextOf(item, key)));
  }
  return value;
}

Result<Value> ItemValue(const Json& item) {
  const std::string type = TextOf(item, "type");
  if (type == "text") return Value(TextOf(item, "text"));
  if (type == "image") return ImageValue(item);
  if (type == "audio") return AudioValue(item);
  if (type == "resource") return EmbeddedValue(MemberOf(item, "resource"));
  if (type == "resource_link") return LinkValue(item);
  return Broken(fmt::format("content of an unknown type \"{}\"", CleanLine(type, kMaxMimeBytes)));
}

std::string JoinedTexts(const Json& content) {
  std::string text;
  bool first = true;
  for (const Json& item : content) {
    if (TextOf(item, "type") != "text") continue;
    if (!std::exchange(first, false)) text += '\n';
    text += TextOf(item, "text");
  }
  return text;
}

Result<Value> ContentValue(const Json& content) {
  if (content.is_null() || content.empty()) return Value();
  if (!content.is_array()) return Broken("\"content\" is no list");
  const bool all_text = std::all_of(content.begin(), content.end(),
                                    [](const Json& item) { return TextOf(item, "type") == "text"; });
  if (all_text) return Value(JoinedTexts(content));
  Value::List values;
  for (const Json& item : content) {
    ASSIGN_OR_RETURN(Value value, ItemValue(item));
    values.push_back(std::move(value));
  }
  return values.size() == 1 ? std::move(values.front()) : Value(std::move(values));
}

Result<Value> StructuredValue(const Json& result, const McpToolInfo& tool, const SchemaValidator& validate) {
  const auto structured = result.find("structuredContent");
  if (structured == result.end())
    return Broken("the tool has an output schema, but \"structuredContent\" is missing");
  Value value = ValueOfPlainJson(*structured);
  std::vector<std::string> problems;
  if (auto plainly = CheckPlainly(*structured, *tool.output_schema)) {
    problems = std::move(*plainly);
  } else if (validate) {
    ASSIGN_OR_RETURN(problems, validate(value, ValueOfPlainJson(*tool.output_schema)));
  }
  if (problems.empty()) return value;
  std::string text;
  for (std::size_t i = 0; i < std::min(problems.size(), kMaxShownProblems); ++i)
    text += (i == 0 ? "" : "; ") + CleanLine(problems[i], kMaxShownBytes);
  return Broken("it does not fit the tool's output schema: " + text);
}

}  // namespace

Result<Value> ToolResultValue(const Json& result, const McpToolInfo& tool, const SchemaValidator& validate,
                              const McpLimits& limits) {
  const Json& content = MemberOf(result, "content");
  if (FlagOf(result, "isError")) {
    std::string text = CleanText(content.is_array() ? JoinedTexts(content) : "", limits.max_error_bytes);
    return Fail(ErrorCode::kIo, text.empty() ? "the tool failed and said nothing of it" : std::move(text));
  }
  if (tool.output_schema) return StructuredValue(result, tool, validate);
  return ContentValue(content);
}

std::vector<std::pair<std::string, Value>> ImagesOf(const Json& result) {
  std::vector<std::pair<std::string, Value>> images;
  for (const Json& item : MemberOf(result, "content")) {
    if (TextOf(item, "type") != "image" || !MimeOf(item).starts_with("image/")) continue;
    if (auto data = BytesOf(item, "data"); data && images.size() < kMaxImages)
      images.emplace_back(MimeOf(item), std::move(*data));
  }
  return images;
}

Result<Value> ResourceValue(const Json& result) {
  const Json& contents = MemberOf(result, "contents");
  if (!contents.is_array()) return Broken("\"contents\" is no list");
  Value::List values;
  for (const Json& item : contents) {
    ASSIGN_OR_RETURN(Value value, EmbeddedValue(item));
    values.push_back(std::move(value));
  }
  if (values.size() != 1) return Value(std::move(values));
  const Value* text = values.front().Find("text");
  return text != nullptr ? *text : *values.front().Find("blob");
}

}  // namespace gloveport
