// HostPattern: one line of a list of hosts that may be reached. A plain value.
//
//   api.example.org            that host, at the port of the scheme (443 for https, 80 for http)
//   https://api.example.org    the same, by https only
//   *.example.org              every host below example.org, not example.org itself
//   127.0.0.1:8080, [::1]:80   an address, at that port
//   *                          every host
#ifndef GLOVEPORT_TOOLS_BUILTIN_HOST_PATTERN_H_
#define GLOVEPORT_TOOLS_BUILTIN_HOST_PATTERN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/ip_network.h"
#include "gloveport/core/net/url.h"

namespace gloveport {

class HostPattern {
 public:
  // kInvalidArgument for what is none, a path or a user name among it.
  static Result<HostPattern> Parse(std::string_view text);

  bool Matches(const Url& url) const;
  // The address that the pattern itself is, where it is one.
  const std::optional<IpAddress>& address() const { return address_; }

 private:
  std::string scheme_;  // empty: both
  std::string host_;    // without "*."; empty: every host
  bool below_ = false;  // "*."
  std::optional<std::uint16_t> port_;
  std::optional<IpAddress> address_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_HOST_PATTERN_H_
