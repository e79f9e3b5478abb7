// "Did you mean": the nearest of the names that are allowed. Pure.
#ifndef GLOVEPORT_POLICY_SUGGEST_H_
#define GLOVEPORT_POLICY_SUGGEST_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gloveport {

// Insertions, deletions, substitutions and swaps of neighbours that lead from one text to the other.
std::size_t EditDistance(std::string_view from, std::string_view to);

// The candidate that `name` was probably meant to be: a few typing errors away, or with a beginning in
// common. Letter case is ignored. Empty where none is near.
std::string_view Nearest(std::string_view name, std::span<const std::string_view> candidates);

// "did you mean \"imports\"? Allowed: \"imports\", \"tools\""; without the question where nothing is near.
std::string SuggestionFor(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_SUGGEST_H_
