#include "gloveport/core/mcp/tool_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "gloveport/core/base/result.h"
#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/net/http_message.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMaxShownBytes = 64;
constexpr std::size_t kMaxCursorBytes = 4096;
constexpr std::size_t kMaxRejected = 50;

bool IsPrimitive(const Json& schema) {
  const std::string type = TextOf(schema, "type");
  return type == "string" || type == "integer" || type == "boolean";
}

// Finds the annotations along chains of `properties`, and whether there are others elsewhere, which are not
// allowed.
class HeaderFinder {
 public:
  Result<std::vector<McpHeaderParameter>> Find(const Json& schema) {
    RETURN_IF_ERROR(Walk(schema, true));
    return std::move(found_);
  }

 private:
  Status Walk(const Json& json, bool reachable) {
    if (json.is_array()) {
      for (const Json& item : json) RETURN_IF_ERROR(Walk(item, false));
      return {};
    }
    if (!json.is_object()) return {};
    if (const Json* name = Member(json, "x-mcp-header")) RETURN_IF_ERROR(Take(*name, json, reachable));
    for (const auto& [key, item] : json.items()) {
      if (key != "properties" || !item.is_object()) {
        RETURN_IF_ERROR(Walk(item, false));
        continue;
      }
      for (const auto& [property, schema] : item.items()) {
        path_.push_back(property);
        RETURN_IF_ERROR(Walk(schema, reachable));
        path_.pop_back();
      }
    }
    return {};
  }

  Status Take(const Json& name, const Json& schema, bool reachable) {
    if (!name.is_string() || !IsHttpToken(name.get_ref<const std::string&>()) ||
        name.get<std::string>().size() > 128)
      return Fail(ErrorCode::kProtocol, "an x-mcp-header is no name of a header field");
    if (!reachable || path_.empty() || !IsPrimitive(schema))
      return Fail(ErrorCode::kProtocol, "an x-mcp-header stands where none may stand");
    const auto same = [&](const McpHeaderParameter& other) {
      return EqualsIgnoringCase(other.name, name.get_ref<const std::string&>());
    };
    if (std::any_of(found_.begin(), found_.end(), same))
      return Fail(ErrorCode::kProtocol, "an x-mcp-header is there twice");
    found_.push_back({name.get<std::string>(), path_});
    return {};
  }

  std::vector<std::string> path_;
  std::vector<McpHeaderParameter> found_;
};

Status CheckSchema(const Json& schema, std::string_view what, const McpLimits& limits) {
  if (!schema.is_object()) return Fail(ErrorCode::kProtocol, fmt::format("its {} is no object", what));
  if (DumpJson(schema).size() > limits.max_schema_bytes) {
    return Fail(ErrorCode::kProtocol,
                fmt::format("its {} is longer than {} bytes", what, limits.max_schema_bytes));
  }
  return {};
}

Result<McpToolInfo> ParseTool(const Json& json, const McpLimits& limits) {
  McpToolInfo tool;
  tool.name = TextOf(json, "name");
  if (tool.name.empty()) return Fail(ErrorCode::kProtocol, "it has no name");
  if (tool.name.size() > kMaxNameBytes)
    return Fail(ErrorCode::kProtocol, fmt::format("its name is longer than {} bytes", kMaxNameBytes));
  const std::string description = TextOf(json, "description");
  tool.description =
      CleanText(description.empty() ? TextOf(json, "title") : description, limits.max_description_bytes);
  tool.input_schema = MemberOf(json, "inputSchema");
  RETURN_IF_ERROR(CheckSchema(tool.input_schema, "inputSchema", limits));
  if (const Json* output = Member(json, "outputSchema")) {
    RETURN_IF_ERROR(CheckSchema(*output, "outputSchema", limits));
    tool.output_schema = *output;
  }
  ASSIGN_OR_RETURN(tool.headers, HeaderFinder().Find(tool.input_schema));
  return tool;
}

}  // namespace

McpToolPage ParseToolPage(const Json& result, const McpLimits& limits) {
  McpToolPage page;
  for (const Json& json : MemberOf(result, "tools")) {
    if (page.tools.size() >= limits.max_tools) break;
    auto tool = ParseTool(json, limits);
    if (tool) {
      page.tools.push_back(std::move(*tool));
    } else if (page.rejected.size() < kMaxRejected) {
      page.rejected.push_back(
          fmt::format("{}: {}", CleanLine(TextOf(json, "name"), kMaxShownBytes), tool.error().message));
    }
  }
  page.next_cursor = TextOf(result, "nextCursor");
  if (page.next_cursor.size() > kMaxCursorBytes) page.next_cursor.clear();
  return page;
}

}  // namespace gloveport
