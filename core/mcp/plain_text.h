// Text that a peer sent, made safe to show and short: valid UTF-8, with control characters, escape sequences
// and bidirectional controls made visible. Pure.
#ifndef GLOVEPORT_CORE_MCP_PLAIN_TEXT_H_
#define GLOVEPORT_CORE_MCP_PLAIN_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace gloveport {

// Line ends and tabs stay. At most `max_bytes`, cut between characters, with " ..." where something was cut.
std::string CleanText(std::string_view text, std::size_t max_bytes);

// One line: white space of any kind becomes one space.
std::string CleanLine(std::string_view text, std::size_t max_bytes);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_PLAIN_TEXT_H_
