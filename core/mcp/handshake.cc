#include "gloveport/core/mcp/handshake.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

class Negotiation {
 public:
  Negotiation(McpPeer& peer, const HandshakeOptions& options) : peer_(peer), options_(options) {}

  Result<McpServerFacts> Run() {
    if (!options_.revision.empty() && !IsStateless(options_.revision)) return Initialize(options_.revision);
    return Discover();
  }

 private:
  Result<McpServerFacts> Discover() {
    return peer_.transport().kind() == McpTransportKind::kStdio ? DiscoverOverStdio() : DiscoverOverHttp();
  }

  McpCallOptions Patience() const { return {.deadline = options_.deadline, .stop = options_.stop}; }

  Json DiscoverParams() const {
    Json params = Json::object();
    AddRequestMeta(params, options_.client, options_.abilities);
    return params;
  }

  Json InitializeParams(std::string_view revision) const {
    return {{"protocolVersion", revision},
            {"capabilities", options_.abilities.ToJson()},
            {"clientInfo", options_.client.ToJson()}};
  }

  Result<McpServerFacts> DiscoverOverHttp() {
    McpCallOptions patience = Patience();
    patience.headers = {{"MCP-Protocol-Version", std::string(kStatelessRevision)},
                        {"Mcp-Method", "server/discover"}};
    const auto answer = peer_.Call("server/discover", DiscoverParams(), patience);
    if (answer) return AfterDiscover(*answer);
    // A status that says no, or an answer that is none: a server of an earlier kind.
    if (answer.error().code == ErrorCode::kProtocol) return Initialize(std::string(kHandshakeRevisions[0]));
    return tl::unexpected<Error>(answer.error());
  }

  Result<McpServerFacts> DiscoverOverStdio() {
    ASSIGN_OR_RETURN(const std::int64_t probe, peer_.Begin("server/discover", DiscoverParams(), Patience()));
    const Deadline patience = Earlier(options_.deadline, Deadline::After(options_.probe_time));
    peer_.pending().WaitForAny({probe}, patience, options_.stop);
    if (const auto answer = peer_.pending().Take(probe)) {
      if (!*answer) return tl::unexpected<Error>(answer->error());
      return AfterDiscover(**answer);
    }
    if (!options_.revision.empty()) return AwaitDiscover(probe);
    return DiscoverBesideInitialize(probe);
  }

  Result<McpServerFacts> AwaitDiscover(std::int64_t probe) {
    ASSIGN_OR_RETURN(const RpcMessage answer, peer_.pending().Wait(probe, options_.deadline, options_.stop));
    return AfterDiscover(answer);
  }

  // The server has been silent: it ignores what it does not know, or it is slow to start. Whichever of the
  // two requests it answers says which.
  Result<McpServerFacts> DiscoverBesideInitialize(std::int64_t probe) {
    const std::string revision(kHandshakeRevisions[0]);
    ASSIGN_OR_RETURN(const std::int64_t initialize,
                     peer_.Begin("initialize", InitializeParams(revision), Patience()));
    peer_.pending().WaitForAny({probe, initialize}, options_.deadline, options_.stop);
    if (const auto discovered = peer_.pending().Take(probe);
        discovered && *discovered && (**discovered).kind == RpcMessage::Kind::kResult) {
      peer_.pending().Drop(initialize);
      return AfterDiscover(**discovered);
    }
    auto answer = peer_.pending().Wait(initialize, options_.deadline, options_.stop);
    peer_.pending().Drop(probe);
    if (!answer) return tl::unexpected<Error>(answer.error());
    return AfterInitialize(*answer);
  }

  Result<McpServerFacts> AfterDiscover(const RpcMessage& answer) {
    if (answer.kind == RpcMessage::Kind::kError) {
      if (answer.error.Is(RpcCode::kUnsupportedProtocolVersion))
        return Choose(SupportedRevisions(answer.error), answer);
      if (!IsStatelessError(answer.error) && options_.revision.empty())
        return Initialize(std::string(kHandshakeRevisions[0]));
      return tl::unexpected<Error>(ResultOf(answer, "server/discover", options_.limits).error());
    }
    std::vector<std::string> offered;
    for (const Json& item : MemberOf(answer.result, "supportedVersions")) {
      if (item.is_string() && offered.size() < 64) offered.push_back(item.get<std::string>());
    }
    // A server that answers anything at all to whatever it does not know is of an earlier kind.
    if (offered.empty() && options_.revision.empty()) return Initialize(std::string(kHandshakeRevisions[0]));
    return Choose(offered, answer);
  }

  Result<McpServerFacts> Choose(const std::vector<std::string>& offered, const RpcMessage& answer) {
    const auto newest = NewestRevision(offered);
    const bool wanted = newest && (options_.revision.empty() || *newest == options_.revision);
    if (!wanted) return NoCommon(offered);
    if (!IsStateless(*newest)) return Initialize(*newest);
    // Refused and offered at once, as where servers of two kinds share an address: asked once more.
    if (answer.kind != RpcMessage::Kind::kResult) {
      if (std::exchange(asked_again_, true)) return NoCommon(offered);
      return Discover();
    }
    McpServerFacts facts = ParseServerFacts(answer.result, options_.limits);
    facts.revision = *newest;
    peer_.Agreed(facts.revision);
    return facts;
  }

  tl::unexpected<Error> NoCommon(const std::vector<std::string>& offered) const {
    return Fail(ErrorCode::kProtocol,
                fmt::format("the server speaks no revision of MCP that we do; it offers: {}",
                            CleanLine(fmt::format("{}", fmt::join(offered, ", ")), 300)));
  }

  Result<McpServerFacts> Initialize(const std::string& revision) {
    ASSIGN_OR_RETURN(const RpcMessage answer,
                     peer_.Call("initialize", InitializeParams(revision), Patience()));
    return AfterInitialize(answer);
  }

  Result<McpServerFacts> AfterInitialize(const RpcMessage& answer) {
    ASSIGN_OR_RETURN(const Json result, ResultOf(answer, "initialize", options_.limits));
    const std::string revision = TextOf(result, "protocolVersion");
    if (IsStateless(revision) || !IsKnownRevision(revision)) return NoCommon({revision});
    McpServerFacts facts = ParseServerFacts(result, options_.limits);
    facts.revision = revision;
    peer_.Agreed(revision);
    // Before any other request, so that it does not take the way of what is posted.
    RETURN_IF_ERROR(peer_.transport().Send({RpcNotification("notifications/initialized", nullptr),
                                            {},
                                            nullptr,
                                            options_.deadline,
                                            options_.stop}));
    return facts;
  }

  McpPeer& peer_;
  const HandshakeOptions& options_;
  bool asked_again_ = false;
};

}  // namespace

Result<McpServerFacts> Negotiate(McpPeer& peer, const HandshakeOptions& options) {
  return Negotiation(peer, options).Run();
}

Result<Json> ResultOf(const RpcMessage& answer, std::string_view what, const McpLimits& limits) {
  if (answer.kind == RpcMessage::Kind::kResult) return answer.result;
  return Fail(ErrorCode::kProtocol,
              fmt::format("the server refuses {} with error {}: {}", what, answer.error.code,
                          CleanText(answer.error.message, limits.max_error_bytes)));
}

}  // namespace gloveport
