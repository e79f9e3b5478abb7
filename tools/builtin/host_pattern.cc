#include "gloveport/tools/builtin/host_pattern.h"

#include <fmt/core.h>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

std::uint16_t PortOf(std::string_view scheme) { return scheme == "https" ? 443 : 80; }

}  // namespace

Result<HostPattern> HostPattern::Parse(std::string_view text) {
  const auto bad = [shown = EscapeForTerminal(text.substr(0, 200))](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("\"{}\" names no host: {}", shown, why),
                "write a host such as api.example.org, *.example.org or 127.0.0.1:8080");
  };
  HostPattern pattern;
  for (const std::string_view scheme : {"https", "http"}) {
    if (!text.starts_with(scheme) || text.substr(scheme.size(), 3) != "://") continue;
    pattern.scheme_ = scheme;
    text.remove_prefix(scheme.size() + 3);
  }
  if (text == "*") return pattern;
  pattern.below_ = text.starts_with("*.");
  if (pattern.below_) text.remove_prefix(2);
  const auto plain = ParseUrl("http://" + std::string(text));
  const auto secure = ParseUrl("https://" + std::string(text));
  if (!plain || !secure) return bad((plain ? secure : plain).error().message);
  if (!plain->userinfo.empty()) return bad("it holds a user name");
  if (text.find_first_of("/?#\\") != std::string_view::npos) return bad("it holds a path");
  pattern.host_ = plain->host;
  if (plain->port == secure->port) pattern.port_ = plain->port;  // else each has its scheme's own
  pattern.address_ = IpAddress::Parse(pattern.host_);
  if (pattern.below_ && pattern.address_) return bad("there is nothing below an address");
  return pattern;
}

bool HostPattern::Matches(const Url& url) const {
  if (!scheme_.empty() && url.scheme != scheme_) return false;
  if (host_.empty()) return true;
  if (url.port != port_.value_or(PortOf(url.scheme))) return false;
  if (!below_) return url.host == host_;
  return url.host.size() > host_.size() + 1 && url.host.ends_with("." + host_);
}

}  // namespace gloveport
