#include "gloveport/core/net/ip_network.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "gloveport/core/base/text.h"
#include "gloveport/core/net/resolver.h"

namespace gloveport {
namespace {

// The special-purpose registries of IANA for IPv4 and IPv6, as far as they are not globally reachable, and
// multicast.
constexpr std::string_view kNotPublic[] = {
    "0.0.0.0/8",       "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
    "172.16.0.0/12",   "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
    "198.18.0.0/15",   "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",    "::/96",
    "::ffff:0:0:0/96", "64:ff9b:1::/48",  "100::/64",       "2001::/23",      "2001:db8::/32",
    "3fff::/20",       "5f00::/16",       "fc00::/7",       "fe80::/9",       "ff00::/8",
};

// IPv6 forms in which an IPv4 address is the one that is reached, and where it stands.
struct Carrier {
  std::string_view network;
  std::size_t offset;
};
constexpr Carrier kCarriers[] = {{"64:ff9b::/96", 12}, {"2002::/16", 2}};

}  // namespace

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  const std::string copy(text);
  IpAddress address;
  if (::inet_pton(AF_INET, copy.c_str(), address.bytes_.data()) == 1) {
    address.is_v4_ = true;
    return address;
  }
  in6_addr v6;
  if (::inet_pton(AF_INET6, copy.c_str(), &v6) != 1) return std::nullopt;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    address.is_v4_ = true;
    std::memcpy(address.bytes_.data(), v6.s6_addr + 12, 4);
  } else {
    std::memcpy(address.bytes_.data(), v6.s6_addr, 16);
  }
  return address;
}

std::optional<IpAddress> IpAddress::Of(const SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.family() == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
  } else if (address.family() == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
  }
  return Parse(text);
}

bool IpAddress::is_public() const {
  for (const Carrier& carrier : kCarriers) {
    if (!IpNetwork::Parse(carrier.network)->Contains(*this)) continue;
    IpAddress carried;
    carried.is_v4_ = true;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(carrier.offset), 4, carried.bytes_.begin());
    return carried.is_public();
  }
  return std::none_of(std::begin(kNotPublic), std::end(kNotPublic), [this](std::string_view network) {
    return IpNetwork::Parse(network)->Contains(*this);
  });
}

Result<IpNetwork> IpNetwork::Parse(std::string_view text) {
  const auto bad = [&] {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("\"{}\" is no range of IP addresses", EscapeForTerminal(text.substr(0, 80))),
                "write an address such as 10.1.2.3, or a range such as 10.0.0.0/8 or fd00::/8");
  };
  const auto slash = text.find('/');
  const auto address = IpAddress::Parse(text.substr(0, slash));
  if (!address) return bad();
  IpNetwork network;
  network.address_ = *address;
  const int most = address->is_v4_ ? 32 : 128;
  network.prefix_bits_ = most;
  if (slash == std::string_view::npos) return network;
  const std::string_view bits = text.substr(slash + 1);
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), network.prefix_bits_);
  const bool is_number = error == std::errc() && end == bits.data() + bits.size();
  if (!is_number || network.prefix_bits_ < 0 || network.prefix_bits_ > most) return bad();
  return network;
}

bool IpNetwork::Contains(const IpAddress& address) const {
  if (address.is_v4_ != address_.is_v4_) return false;
  for (int bit = 0; bit < prefix_bits_; ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    const unsigned mask = 0x80u >> (bit % 8);
    if (((address.bytes_[byte] ^ address_.bytes_[byte]) & mask) != 0) return false;
  }
  return true;
}

}  // namespace gloveport
