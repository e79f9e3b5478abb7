#include "gloveport/core/serve/mcp/request_terms.h"

#include <fmt/format.h>

#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxToken = 256;

const Json& MetaOf(const RpcMessage& request) { return MemberOf(request.params, "_meta"); }

}  // namespace

McpReply ErrorReply(const Json& id, RpcCode code, std::string_view message, Json data) {
  return {RpcErrorReply(id, code, message, std::move(data)), code};
}

McpReply McpRequestTerms::Result(Json result, const McpImplementation& server, std::string_view type) const {
  if (stateless()) {
    result["resultType"] = type;
    result["_meta"][std::string(kMetaServerInfo)] = server.ToJson();
  }
  return {RpcResult(id, std::move(result)), std::nullopt};
}

McpReply McpRequestTerms::Error(RpcCode code, std::string_view message, Json data) const {
  return ErrorReply(id, code, message, std::move(data));
}

bool SaysItsRevision(const RpcMessage& request) { return Member(MetaOf(request), kMetaRevision) != nullptr; }

tl::expected<McpRequestTerms, McpReply> StatelessTerms(const RpcMessage& request) {
  const Json& meta = MetaOf(request);
  const Json& revision = MemberOf(meta, kMetaRevision);
  const auto invalid = [&](std::string_view what) {
    return tl::unexpected<McpReply>(ErrorReply(request.id, RpcCode::kInvalidParams, what));
  };
  if (!revision.is_string()) return invalid(fmt::format("_meta lacks \"{}\", a text", kMetaRevision));
  const std::string& named = revision.get_ref<const std::string&>();
  if (!IsStateless(named)) return tl::unexpected<McpReply>(UnsupportedRevision(request.id, named));
  const Json& capabilities = MemberOf(meta, kMetaClientCapabilities);
  if (!capabilities.is_object())
    return invalid(fmt::format("_meta lacks \"{}\", an object", kMetaClientCapabilities));
  return McpRequestTerms{named, ParseImplementation(MemberOf(meta, kMetaClientInfo)),
                         ParseClientAbilities(capabilities), request.id, ProgressTokenOf(request)};
}

McpReply UnsupportedRevision(const Json& id, std::string_view requested) {
  return ErrorReply(id, RpcCode::kUnsupportedProtocolVersion, "this protocol version is not served",
                    {{"supported", KnownRevisions()}, {"requested", CleanLine(requested, 64)}});
}

Json ProgressTokenOf(const RpcMessage& request) {
  const Json& token = MemberOf(MetaOf(request), "progressToken");
  if (token.is_string() && token.get_ref<const std::string&>().size() <= kMaxToken) return token;
  return token.is_number_integer() ? token : Json();
}

}  // namespace gloveport
