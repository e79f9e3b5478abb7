// What single marks of a model's answer look like: labels, tags, languages of fences. Internal to core/agent;
// pure.
#ifndef GLOVEPORT_CORE_AGENT_MARKS_H_
#define GLOVEPORT_CORE_AGENT_MARKS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gloveport {

inline constexpr std::string_view kCodeTag = "<code>";
inline constexpr std::string_view kCodeClose = "</code>";

bool IsWordCharacter(char c);  // of a fence's language tag
std::size_t WordEnd(std::string_view text, std::size_t position);
std::size_t FindTag(std::string_view text, std::size_t position, std::string_view lower_case_tag);  // or npos
bool IsBlankBetween(std::string_view text, std::size_t begin, std::size_t end);  // within one line

// Each asks about the first visible character of a line.
bool IsLoneReasoningClose(std::string_view text,
                          std::size_t position);                  // </think> and its like, alone on the line
bool IsCodeLabel(std::string_view text, std::size_t position);    // "Code:" alone on the line
bool IsObservation(std::string_view text, std::size_t position);  // "Observation:", "Calling tools:"

// Whether what follows the ticks of a fence is one word: such a fence opens a block and closes none.
bool IsOpener(std::string_view text, std::size_t behind_ticks);

enum class Language : std::uint8_t { kNone, kPython, kJson, kOther };

struct LanguageTag {
  Language language = Language::kNone;
  std::size_t end = 0;
};
LanguageTag ReadLanguage(std::string_view text, std::size_t behind_ticks);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_MARKS_H_
