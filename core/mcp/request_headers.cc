#include "gloveport/core/mcp/request_headers.h"

#include <algorithm>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::string_view kBegin = "=?base64?";
constexpr std::string_view kEnd = "?=";

const Json* At(const Json& arguments, const std::vector<std::string>& path) {
  const Json* at = &arguments;
  for (const std::string& key : path) {
    at = Member(*at, key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

}  // namespace

std::string HeaderText(std::string_view value) {
  const bool visible =
      std::all_of(value.begin(), value.end(), [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\t'; });
  const bool padded = Trim(value).size() != value.size() || value.empty();
  const bool marked = value.starts_with(kBegin) && value.ends_with(kEnd);
  if (visible && !padded && !marked) return std::string(value);
  return std::string(kBegin) + EncodeBase64(AsBytes(value)) + std::string(kEnd);
}

std::optional<std::string> FromHeaderText(std::string_view text) {
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd) || text.size() < kBegin.size() + kEnd.size())
    return std::string(text);
  const auto decoded = DecodeBase64(text.substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size()));
  if (!decoded || !IsValidUtf8(AsText(*decoded))) return std::nullopt;
  return std::string(AsText(*decoded));
}

HttpHeaders MirrorHeaders(std::string_view method, std::string_view name) {
  HttpHeaders headers = {{"Mcp-Method", std::string(method)}};
  if (!name.empty()) headers.push_back({"Mcp-Name", HeaderText(name)});
  return headers;
}

HttpHeaders ArgumentHeaders(const std::vector<McpHeaderParameter>& parameters, const Json& arguments) {
  HttpHeaders headers;
  for (const McpHeaderParameter& parameter : parameters) {
    const Json* value = At(arguments, parameter.path);
    if (value == nullptr || value->is_structured()) continue;
    const std::string text = value->is_string() ? value->get<std::string>() : DumpJson(*value);
    headers.push_back({"Mcp-Param-" + parameter.name, HeaderText(text)});
  }
  return headers;
}

}  // namespace gloveport
