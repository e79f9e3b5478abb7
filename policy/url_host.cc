#include "gloveport/policy/url_host.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

namespace gloveport {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return out;
}

bool IsScheme(std::string_view text) {
  return !text.empty() && IsLetter(text.front()) && std::all_of(text.begin(), text.end(), [](char c) {
    return IsLetter(c) || IsDigit(c) || c == '+' || c == '-' || c == '.';
  });
}

bool IsPort(std::string_view text) {
  if (text.empty()) return true;  // "host:" means the scheme's own port
  unsigned port = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && port <= 65535;
}

std::optional<std::string> Ipv6Host(std::string_view text) {
  in6_addr address;
  if (::inet_pton(AF_INET6, std::string(text).c_str(), &address) != 1) return std::nullopt;
  if (IN6_IS_ADDR_V4MAPPED(&address) || IN6_IS_ADDR_V4COMPAT(&address)) {
    if (!IN6_IS_ADDR_LOOPBACK(&address)) return std::nullopt;  // an IPv4 address in disguise
  }
  char shortest[INET6_ADDRSTRLEN];
  if (::inet_ntop(AF_INET6, &address, shortest, sizeof shortest) == nullptr) return std::nullopt;
  return shortest;
}

// Clients read "127.1", "2130706433" and "0x7f.0.0.1" as IPv4 addresses too; only the plain form is
// unambiguous.
bool EndsLikeIpv4(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return !last.empty() && (std::all_of(last.begin(), last.end(), IsDigit) || last.starts_with("0x"));
}

bool IsPlainIpv4(std::string_view host) {
  in_addr address;
  return ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1;
}

std::optional<std::string> NamedHost(std::string_view text) {
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text.size() > 253 || text.front() == '.' || text.find("..") != std::string_view::npos) {
    return std::nullopt;
  }
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return IsLetter(c) || IsDigit(c) || c == '-' || c == '.' || c == '_';
  });
  if (!plain) return std::nullopt;
  std::string host = Lower(text);
  if (EndsLikeIpv4(host) && !IsPlainIpv4(host)) return std::nullopt;
  return host;
}

std::optional<std::string> HostOfAuthority(std::string_view authority) {
  const std::size_t user_end = authority.find('@');
  if (user_end != std::string_view::npos) authority.remove_prefix(user_end + 1);
  if (authority.find('@') != std::string_view::npos) return std::nullopt;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view rest = authority.substr(close + 1);
    if (!rest.empty() && (rest.front() != ':' || !IsPort(rest.substr(1)))) return std::nullopt;
    return Ipv6Host(authority.substr(1, close - 1));
  }
  const std::size_t colon = authority.find(':');
  if (colon != std::string_view::npos && !IsPort(authority.substr(colon + 1))) return std::nullopt;
  return NamedHost(authority.substr(0, colon));
}

}  // namespace

std::optional<std::string> UrlHost(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos || !IsScheme(url.substr(0, scheme_end))) return std::nullopt;
  const auto hostile = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7F || c == '\\';
  };
  if (std::any_of(url.begin(), url.end(), hostile)) return std::nullopt;
  const std::string_view rest = url.substr(scheme_end + 3);
  return HostOfAuthority(rest.substr(0, rest.find_first_of("/?#")));
}

bool HostMatches(std::string_view host, std::string_view pattern) {
  if (!pattern.starts_with("*.")) return host == pattern;
  const std::string_view suffix = pattern.substr(1);  // with its dot: the domain itself is not below itself
  return host.size() > suffix.size() && host.ends_with(suffix);
}

std::optional<std::string> NormalHostPattern(std::string_view pattern) {
  if (pattern.starts_with('[') && pattern.ends_with(']'))
    return Ipv6Host(pattern.substr(1, pattern.size() - 2));
  if (pattern.find(':') != std::string_view::npos) return Ipv6Host(pattern);
  if (!pattern.starts_with("*.")) return NamedHost(pattern);
  const auto domain = NamedHost(pattern.substr(2));
  if (!domain || EndsLikeIpv4(*domain)) return std::nullopt;
  return "*." + *domain;
}

}  // namespace gloveport
