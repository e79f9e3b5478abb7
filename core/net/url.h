// Url: an absolute http or https URL in its parts. A plain value.
#ifndef GLOVEPORT_CORE_NET_URL_H_
#define GLOVEPORT_CORE_NET_URL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"

namespace gloveport {

struct Url {
  std::string scheme;    // "http" or "https"
  std::string userinfo;  // as written, percent-encoded; empty without one
  std::string host;      // lower case; an IPv6 address without brackets
  std::uint16_t port = 0;
  std::string target = "/";  // path and query, as sent; never empty

  bool secure() const { return scheme == "https"; }
  std::string authority()
      const;                   // "example.org", "[::1]:8080": the port only where it is not the scheme's own
  std::string origin() const;  // "https://example.org": what messages name, for queries may hold secrets
};

// kInvalidArgument for anything but http and https, for an empty or malformed host, a bad port, and for
// spaces and control characters anywhere. A fragment is dropped.
Result<Url> ParseUrl(std::string_view text);

// True for "localhost" and the addresses of 127.0.0.0/8 and ::1. No name is resolved.
bool IsLoopbackHost(std::string_view host);

// "%41" becomes "A"; what is no valid escape stays as it is.
std::string DecodePercent(std::string_view text);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_URL_H_
