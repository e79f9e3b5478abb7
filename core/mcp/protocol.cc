#include "gloveport/core/mcp/protocol.h"

#include <algorithm>

#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kMaxOffered = 64;

}  // namespace

bool IsKnownRevision(std::string_view revision) {
  return IsStateless(revision) || std::find(kHandshakeRevisions.begin(), kHandshakeRevisions.end(),
                                            revision) != kHandshakeRevisions.end();
}

std::vector<std::string> KnownRevisions() {
  std::vector<std::string> revisions = {std::string(kStatelessRevision)};
  revisions.insert(revisions.end(), kHandshakeRevisions.begin(), kHandshakeRevisions.end());
  return revisions;
}

std::optional<std::string> NewestRevision(const std::vector<std::string>& offered) {
  std::optional<std::string> newest;
  for (const std::string& revision : offered) {
    // They are dates, so that their order is that of their text.
    if (IsKnownRevision(revision) && (!newest || *newest < revision)) newest = revision;
  }
  return newest;
}

std::vector<std::string> SupportedRevisions(const RpcError& error) {
  std::vector<std::string> revisions;
  for (const Json& item : MemberOf(error.data, "supported")) {
    if (item.is_string() && revisions.size() < kMaxOffered) revisions.push_back(item.get<std::string>());
  }
  return revisions;
}

bool IsStatelessError(const RpcError& error) {
  return error.Is(RpcCode::kUnsupportedProtocolVersion) || error.Is(RpcCode::kMissingClientCapability) ||
         error.Is(RpcCode::kHeaderMismatch);
}

McpImplementation ParseImplementation(const Json& json) {
  return {CleanLine(TextOf(json, "name"), kMaxNameBytes), CleanLine(TextOf(json, "version"), kMaxNameBytes)};
}

McpServerFacts ParseServerFacts(const Json& result, const McpLimits& limits) {
  McpServerFacts facts;
  const Json& info = MemberOf(result, "serverInfo");
  const Json& meta_info = MemberOf(MemberOf(result, "_meta"), kMetaServerInfo);
  facts.server = ParseImplementation(info.is_object() ? info : meta_info);
  const Json& capabilities = MemberOf(result, "capabilities");
  facts.tools = MemberOf(capabilities, "tools").is_object();
  facts.tools_list_changed = FlagOf(MemberOf(capabilities, "tools"), "listChanged");
  facts.resources = MemberOf(capabilities, "resources").is_object();
  facts.prompts = MemberOf(capabilities, "prompts").is_object();
  facts.logging = MemberOf(capabilities, "logging").is_object();
  facts.instructions = CleanText(TextOf(result, "instructions"), limits.max_description_bytes);
  return facts;
}

Json McpClientAbilities::ToJson() const {
  Json json = Json::object();
  if (elicitation) json["elicitation"] = {{"form", Json::object()}};
  return json;
}

McpClientAbilities ParseClientAbilities(const Json& capabilities) {
  const Json& elicitation = MemberOf(capabilities, "elicitation");
  // An empty object stands for forms, as the revisions before modes had it.
  return {elicitation.is_object() && (elicitation.empty() || MemberOf(elicitation, "form").is_object())};
}

void AddRequestMeta(Json& params, const McpImplementation& client, const McpClientAbilities& abilities) {
  if (!params.is_object()) params = Json::object();
  Json& meta = params["_meta"];
  meta[std::string(kMetaRevision)] = kStatelessRevision;
  meta[std::string(kMetaClientInfo)] = client.ToJson();
  meta[std::string(kMetaClientCapabilities)] = abilities.ToJson();
}

}  // namespace gloveport
