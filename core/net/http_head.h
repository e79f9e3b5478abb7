// The head of an HTTP/1.1 request as it was sent: libraries decode and merge, and what is compared should be
// what came. Pure functions.
#ifndef GLOVEPORT_CORE_NET_HTTP_HEAD_H_
#define GLOVEPORT_CORE_NET_HTTP_HEAD_H_

#include <cstddef>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/http_message.h"

namespace gloveport {

inline constexpr std::size_t kMaxHttpHeadBytes = 64 * 1024;
inline constexpr std::size_t kMaxHttpFields = 200;

// Where the head ends in what was received so far, behind its empty line; npos where it is not all there.
std::size_t EndOfHttpHead(std::string_view received);

// The fields of a whole head, values without blanks around them. kInvalidArgument, without a value in the
// message, for lines that do not end in CR LF, folded lines, names that are no token, control characters,
// more than kMaxHttpFields, and for lengths of the body that contradict each other.
Result<HttpHeaders> ParseHttpHead(std::string_view head);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_HTTP_HEAD_H_
