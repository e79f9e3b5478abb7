// The host of a URL, read so strictly that no client can understand another one. Pure.
#ifndef GLOVEPORT_POLICY_URL_HOST_H_
#define GLOVEPORT_POLICY_URL_HOST_H_

#include <optional>
#include <string>
#include <string_view>

namespace gloveport {

// "https://user@Example.org.:8080/x" gives "example.org": lower case, without user, port, brackets and the
// dot at the end; IPv6 in its shortest form. Nothing for a text without "scheme://host", and for whatever URL
// parsers disagree about: white space, control characters, backslashes, escapes or non-ASCII in the host, two
// '@', a port that is none, IPv4 in other than four plain numbers.
std::optional<std::string> UrlHost(std::string_view url);

// Whether `host` (as UrlHost gives it) is `pattern`: a host, or "*.example.org" for every host below
// example.org.
bool HostMatches(std::string_view host, std::string_view pattern);

// A pattern in the form that HostMatches wants; nothing where it is none.
std::optional<std::string> NormalHostPattern(std::string_view pattern);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_URL_HOST_H_
