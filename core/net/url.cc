#include "gloveport/core/net/url.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

tl::unexpected<Error> BadUrl(std::string_view why) {
  // The text itself may hold a password or a key in its query: it is not repeated.
  return Fail(ErrorCode::kInvalidArgument, fmt::format("the URL cannot be used: {}", why),
              "give an absolute URL such as https://example.org/v1");
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool IsIpv6(const std::string& host) {
  in6_addr address;
  return ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

std::uint16_t DefaultPort(std::string_view scheme) { return scheme == "https" ? 443 : 80; }

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// "host", "host:port", "[v6]" or "[v6]:port".
Status ParseHostPort(std::string_view text, Url& url) {
  std::string_view port;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return BadUrl("the bracket of its address is not closed");
    url.host = ToLower(text.substr(1, close - 1));
    if (!IsIpv6(url.host)) return BadUrl("what stands in brackets is no IPv6 address");
    port = text.substr(close + 1);
    if (!port.empty() && port[0] != ':') return BadUrl("there is text after its address");
  } else {
    const auto colon = text.find(':');
    url.host = ToLower(text.substr(0, colon));
    if (url.host.empty()) return BadUrl("it has no host");
    if (!std::all_of(url.host.begin(), url.host.end(), IsHostCharacter)) {
      return BadUrl("its host has a character that no host name has");
    }
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  url.port = DefaultPort(url.scheme);
  if (port.size() > 1) {
    const auto number = ParsePort(port.substr(1));
    if (!number) return BadUrl("its port is no number from 1 to 65535");
    url.port = *number;
  }
  return {};
}

std::optional<unsigned char> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned char>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned char>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned char>(c - 'A' + 10);
  return std::nullopt;
}

}  // namespace

std::string Url::authority() const {
  std::string text = host.find(':') == std::string::npos ? host : fmt::format("[{}]", host);
  if (port != DefaultPort(scheme)) text += fmt::format(":{}", port);
  return text;
}

std::string Url::origin() const { return fmt::format("{}://{}", scheme, authority()); }

Result<Url> ParseUrl(std::string_view text) {
  if (text.empty()) return BadUrl("it is empty");
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7F) {
      return BadUrl("it has a space, a control character or a character outside ASCII");
    }
  }
  Url url;
  const auto colon = text.find("://");
  url.scheme = ToLower(text.substr(0, colon));
  if (colon == std::string_view::npos || (url.scheme != "http" && url.scheme != "https")) {
    return BadUrl("it does not begin with http:// or https://");
  }
  text.remove_prefix(colon + 3);
  text = text.substr(0, text.find('#'));
  const auto end = std::min(text.find_first_of("/?\\"), text.size());
  std::string_view authority = text.substr(0, end);
  url.target = text.substr(end);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    url.userinfo = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  RETURN_IF_ERROR(ParseHostPort(authority, url));
  return url;
}

bool IsLoopbackHost(std::string_view host) {
  if (host == "localhost") return true;
  const std::string text(host);
  in_addr v4;
  if (::inet_pton(AF_INET, text.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6;
  return ::inet_pton(AF_INET6, text.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string DecodePercent(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size();
    const auto high = escape ? HexDigit(text[i + 1]) : std::nullopt;
    const auto low = escape ? HexDigit(text[i + 2]) : std::nullopt;
    if (high && low) {
      out += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace gloveport
