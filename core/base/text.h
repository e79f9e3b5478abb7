// Text for people and for encodings: everything here is pure.
#ifndef GLOVEPORT_CORE_BASE_TEXT_H_
#define GLOVEPORT_CORE_BASE_TEXT_H_

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gloveport {

bool IsValidUtf8(std::string_view text);  // strict: no overlong forms, no surrogates, at most U+10FFFF

// Invalid bytes become U+FFFD. The result is always valid UTF-8.
std::string ToValidUtf8(std::string_view text);

// Makes text that a session wrote safe to show: control characters (but newline and tab), escape sequences,
// bidirectional controls and invalid UTF-8 become visible escapes such as \x1b.
std::string EscapeForTerminal(std::string_view text);

std::string EncodeBase64(std::span<const std::byte> bytes);
std::optional<std::vector<std::byte>> DecodeBase64(std::string_view text);  // strict alphabet and padding

// At '\n'; a trailing one makes no empty line.
std::vector<std::string_view> SplitLines(std::string_view text);
// The lines would outlive a temporary.
template <std::same_as<std::string> T>
std::vector<std::string_view> SplitLines(T&& text) = delete;
std::string_view Trim(std::string_view text);  // ASCII white space at both ends

// "1 reply", "3 replies".
std::string Counted(std::size_t count, std::string_view one, std::string_view many);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_BASE_TEXT_H_
