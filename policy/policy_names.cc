#include "gloveport/policy/policy_names.h"

#include <algorithm>
#include <cstddef>

namespace gloveport {

bool IsIdentifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || !letter(text.front())) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool IsModuleName(std::string_view text) {
  if (text.size() > 200) return false;
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!IsIdentifier(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace gloveport
