// Utf8Joiner: text that arrives in pieces, cut at the borders of characters.
//
// A session's output arrives as it is written, and a piece may end inside a character. The joiner keeps those
// bytes back until the rest of the character is there, so that each piece it returns is whole. Not
// thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_UTF8_JOINER_H_
#define GLOVEPORT_CORE_SERVE_UTF8_JOINER_H_

#include <string>
#include <string_view>

namespace gloveport {

class Utf8Joiner {
 public:
  // What can be shown now: kept bytes and `piece`, without the beginning of a character that is not yet
  // whole.
  std::string Add(std::string_view piece);
  // What was kept back, however it ends.
  std::string Take();

 private:
  std::string kept_;  // at most three bytes
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_UTF8_JOINER_H_
