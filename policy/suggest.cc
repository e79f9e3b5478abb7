#include "gloveport/policy/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gloveport {
namespace {

constexpr std::size_t kLongestName = 64;  // longer ones are never near to anything
constexpr std::size_t kShortestStem = 3;  // "wall" is near to "wall_s", "w" to nothing

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c == '-' ? '_' : c;
  });
  return out;
}

}  // namespace

std::size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[to.size()];
}

std::string_view Nearest(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.size() > kLongestName) return {};
  const std::string wanted = Lower(name);
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const bool stem =
        wanted.size() >= kShortestStem && (candidate.starts_with(wanted) || wanted.starts_with(candidate));
    const std::size_t distance = stem ? 1 : EditDistance(wanted, Lower(candidate));
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string SuggestionFor(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view near = Nearest(name, candidates);
  const std::string question = near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near);
  std::string list;
  for (const std::string_view candidate : candidates) {
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", candidate);
  }
  return fmt::format("{}Allowed: {}", question, list);
}

}  // namespace gloveport
