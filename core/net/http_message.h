// What HTTP clients and servers share: header fields and responses. Plain values.
#ifndef GLOVEPORT_CORE_NET_HTTP_MESSAGE_H_
#define GLOVEPORT_CORE_NET_HTTP_MESSAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport {

struct HttpHeader {
  std::string name;
  std::string value;
  friend bool operator==(const HttpHeader&, const HttpHeader&) = default;
};
using HttpHeaders = std::vector<HttpHeader>;

struct HttpResponse {
  int status = 0;
  HttpHeaders headers;
  std::string body;
};

// The value of the first field of this name, compared without regard to ASCII case; nullptr where there is
// none.
const std::string* FindHeader(const HttpHeaders& headers, std::string_view name);

bool EqualsIgnoringCase(std::string_view a, std::string_view b);  // ASCII only

// A method or the name of a header field: the `token` of RFC 9110, never empty.
bool IsHttpToken(std::string_view text);

// kInvalidArgument for a name that is no token, or a value with CR, LF, NUL or another control character:
// they would let a value smuggle in further fields. The message has the name, never the value, which may be a
// secret.
Status CheckHeader(const HttpHeader& header);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_HTTP_MESSAGE_H_
