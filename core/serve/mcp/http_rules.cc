#include "gloveport/core/serve/mcp/http_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "gloveport/core/base/text.h"
#include "gloveport/core/mcp/request_headers.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::string_view kJsonType = "application/json";

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return c < 0x80 ? static_cast<char>(std::tolower(c)) : static_cast<char>(c);
  });
  return lower;
}

// "text/event-stream; q=0.5" -> "text/event-stream"
std::string MediaType(std::string_view field) { return Lower(Trim(field.substr(0, field.find(';')))); }

std::size_t CountHeaders(const HttpHeaders& headers, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(),
                    [&](const HttpHeader& header) { return EqualsIgnoringCase(header.name, name); }));
}

// The member of params that Mcp-Name mirrors; empty for methods that have none.
std::string_view NamedBy(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  return method == "resources/read" ? "uri" : "";
}

}  // namespace

HttpResponse JsonResponse(int status, const McpReply& reply) {
  return {status, {{"Content-Type", std::string(kJsonType)}, {"Cache-Control", "no-store"}}, reply.text};
}

HttpResponse StatelessResponse(const McpReply& reply) {
  if (!reply.code || *reply.code == RpcCode::kInternalError) return JsonResponse(200, reply);
  return JsonResponse(*reply.code == RpcCode::kMethodNotFound ? 404 : 400, reply);
}

HttpResponse RefusalResponse(int status, RpcCode code, std::string_view why, HttpHeaders headers) {
  HttpResponse response = JsonResponse(status, ErrorReply(nullptr, code, why));
  response.headers.insert(response.headers.end(), headers.begin(), headers.end());
  return response;
}

void AllowOrigin(HttpHeaders& headers, const std::string& origin) {
  headers.insert(headers.end(), {{"Access-Control-Allow-Origin", origin},
                                 {"Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate"},
                                 {"Vary", "Origin"}});
}

HttpResponse PreflightResponse(const std::string& origin) {
  HttpResponse response{204,
                        {{"Access-Control-Allow-Methods", "POST, GET, DELETE"},
                         {"Access-Control-Allow-Headers",
                          "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, "
                          "Mcp-Protocol-Version, Mcp-Session-Id"},
                         {"Access-Control-Max-Age", "600"}},
                        ""};
  AllowOrigin(response.headers, origin);
  return response;
}

bool Accepts(const HttpHeaders& headers, std::string_view type) {
  bool any_field = false;
  const std::string wild = std::string(type.substr(0, type.find('/'))) + "/*";
  for (const HttpHeader& header : headers) {
    if (!EqualsIgnoringCase(header.name, "Accept")) continue;
    any_field = true;
    std::string_view rest = header.value;
    while (true) {
      const auto comma = rest.find(',');
      const std::string item = MediaType(rest.substr(0, comma));
      if (item == type || item == "*/*" || item == wild) return true;
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return !any_field;
}

bool IsJson(const HttpHeaders& headers) {
  const std::string* type = FindHeader(headers, "Content-Type");
  return type != nullptr && MediaType(*type) == kJsonType;
}

std::optional<std::string_view> BearerToken(const HttpHeaders& headers) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string* field = FindHeader(headers, "Authorization");
  if (field == nullptr || CountHeaders(headers, "Authorization") != 1) return std::nullopt;
  if (field->size() <= kScheme.size() || Lower(field->substr(0, kScheme.size())) != kScheme)
    return std::nullopt;
  return Trim(std::string_view(*field).substr(kScheme.size()));
}

std::optional<std::string> HeaderMismatch(const HttpHeaders& headers, const RpcMessage& message) {
  for (const char* name : {"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"}) {
    // Who reads the first and who reads the last must not see different requests.
    if (CountHeaders(headers, name) > 1)
      return fmt::format("the header field {} is there more than once", name);
  }
  const auto check = [&](const char* name, const std::string& wanted,
                         bool encoded) -> std::optional<std::string> {
    const std::string* field = FindHeader(headers, name);
    if (field == nullptr) return fmt::format("the header field {} is missing", name);
    const auto plain = encoded ? FromHeaderText(*field) : std::optional<std::string>(*field);
    if (plain == wanted) return std::nullopt;
    return fmt::format("the header field {} says something else than the body", name);
  };
  const std::string revision = TextOf(MemberOf(message.params, "_meta"), kMetaRevision);
  if (auto wrong = check("MCP-Protocol-Version", revision, false)) return wrong;
  if (auto wrong = check("Mcp-Method", message.method, false)) return wrong;
  const std::string_view member = NamedBy(message.method);
  if (!member.empty() && Member(message.params, member) != nullptr)
    return check("Mcp-Name", TextOf(message.params, member), true);
  return std::nullopt;
}

}  // namespace gloveport
