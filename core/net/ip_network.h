// Which addresses a name may lead to: ranges of IP addresses, and whether one belongs to the public internet.
// Plain values and pure functions.
#ifndef GLOVEPORT_CORE_NET_IP_NETWORK_H_
#define GLOVEPORT_CORE_NET_IP_NETWORK_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"

namespace gloveport {

struct SocketAddress;

// An IPv4 or IPv6 address. IPv4 addresses in IPv6 form (::ffff:10.0.0.1) are taken as the IPv4 ones they
// are.
class IpAddress {
 public:
  static std::optional<IpAddress> Parse(std::string_view text);  // without brackets and zone
  static std::optional<IpAddress> Of(const SocketAddress& address);

  // False for everything that is not routed on the public internet: loopback, private, link-local, shared
  // (100.64.0.0/10), multicast, documentation and reserved ranges, and IPv6 forms that carry such an IPv4
  // address (NAT64, 6to4).
  bool is_public() const;

  friend bool operator==(const IpAddress&, const IpAddress&) = default;

 private:
  friend class IpNetwork;
  bool is_v4_ = false;
  std::array<std::uint8_t, 16> bytes_{};  // of an IPv4 address the first four
};

class IpNetwork {
 public:
  // "10.0.0.0/8", "fd00::/8", or one address. kInvalidArgument for anything else.
  static Result<IpNetwork> Parse(std::string_view text);
  bool Contains(const IpAddress& address) const;

 private:
  IpAddress address_;
  int prefix_bits_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_IP_NETWORK_H_
