#include "gloveport/core/serve/utf8_joiner.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gloveport {
namespace {

// How many bytes a character takes that begins with `lead`; 1 for what begins none.
std::size_t CharacterSize(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 1;
}

// The length of an unfinished character at the end of `text`, 0 where the end is whole or no UTF-8 at all.
std::size_t UnfinishedTail(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    return CharacterSize(byte) > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string Utf8Joiner::Add(std::string_view piece) {
  std::string text = std::move(kept_);
  text.append(piece);
  const std::size_t tail = UnfinishedTail(text);
  kept_ = text.substr(text.size() - tail);
  text.resize(text.size() - tail);
  return text;
}

std::string Utf8Joiner::Take() { return std::exchange(kept_, std::string()); }

}  // namespace gloveport
