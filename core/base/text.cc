#include "gloveport/core/base/text.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>

namespace gloveport {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t size = 0;  // 0: not a valid sequence here
};

CodePoint DecodeOne(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return {};
  char32_t value = first & (0x7F >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  static constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[size] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, size};
}

// Characters that can move the cursor, reorder text or hide it.
bool IsUnsafeToShow(char32_t c) {
  if (c == '\n' || c == '\t') return false;
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;
  return c == 0x061C || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE007F);
}

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::optional<std::uint32_t> Base64Digit(char c) {
  const auto at = kBase64.find(c);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<std::uint32_t>(at);
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = DecodeOne(text);
    if (point.size == 0) return false;
    text.remove_prefix(point.size);
  }
  return true;
}

std::string ToValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = DecodeOne(text);
    out.append(point.size ? text.substr(0, point.size) : "\uFFFD");
    text.remove_prefix(point.size ? point.size : 1);
  }
  return out;
}

std::string EscapeForTerminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = DecodeOne(text);
    if (point.size == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (!IsUnsafeToShow(point.value)) {
      out.append(text.substr(0, point.size));
    } else if (point.value < 0x100) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(point.value));
    } else {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point.value));
    }
    text.remove_prefix(point.size ? point.size : 1);
  }
  return out;
}

std::string EncodeBase64(std::span<const std::byte> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = (group << 8) | (k < have ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
    for (std::size_t k = 0; k < 4; ++k) out += k <= have ? kBase64[(group >> (18 - 6 * k)) & 63] : '=';
  }
  return out;
}

std::optional<std::vector<std::byte>> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::vector<std::byte> out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const std::size_t padding = !last || text[i + 3] != '=' ? 0 : text[i + 2] == '=' ? 2 : 1;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const auto digit = k < 4 - padding ? Base64Digit(text[i + k]) : std::optional<std::uint32_t>(0);
      if (!digit) return std::nullopt;
      group = (group << 6) | *digit;
    }
    for (std::size_t k = 0; k < 3 - padding; ++k)
      out.push_back(static_cast<std::byte>((group >> (16 - 8 * k)) & 255));
  }
  return out;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string Counted(std::size_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

}  // namespace gloveport
