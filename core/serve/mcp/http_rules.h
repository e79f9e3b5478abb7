// What HTTP requires of requests to an MCP endpoint, and how errors become statuses. Pure.
#ifndef GLOVEPORT_CORE_SERVE_MCP_HTTP_RULES_H_
#define GLOVEPORT_CORE_SERVE_MCP_HTTP_RULES_H_

#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/net/http_server.h"
#include "gloveport/core/serve/mcp/request_terms.h"

namespace gloveport {

// A reply as JSON; with a status of its own for errors that the stateless revision gives one.
HttpResponse JsonResponse(int status, const McpReply& reply);
HttpResponse StatelessResponse(const McpReply& reply);
// A refusal without a JSON-RPC request that it could answer: the error has no id.
HttpResponse RefusalResponse(int status, RpcCode code, std::string_view why, HttpHeaders headers = {});

// What a browser asks before, and after, it lets a page of another origin see an answer (CORS). `origin` is
// one that is allowed.
HttpResponse PreflightResponse(const std::string& origin);
void AllowOrigin(HttpHeaders& headers, const std::string& origin);

// Whether `Accept` takes a media type; without the field it takes all.
bool Accepts(const HttpHeaders& headers, std::string_view type);
// Whether the body is said to be JSON.
bool IsJson(const HttpHeaders& headers);
// The token of `Authorization: Bearer`, with any case of the scheme.
std::optional<std::string_view> BearerToken(const HttpHeaders& headers);

// Why the header fields that mirror a stateless request do not fit it.
std::optional<std::string> HeaderMismatch(const HttpHeaders& headers, const RpcMessage& message);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_HTTP_RULES_H_
