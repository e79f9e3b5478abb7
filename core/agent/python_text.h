// Small lexical helpers over model text: where Python's strings and comments lie, what counts as blank next
// to markup, and indentation. Internal to core/agent; pure.
#ifndef GLOVEPORT_CORE_AGENT_PYTHON_TEXT_H_
#define GLOVEPORT_CORE_AGENT_PYTHON_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gloveport {

// Follows Python's tokens just far enough to know whether a position lies in code, a comment or a string.
//
// A fence or tag outside of strings and comments is never Python. So the first one that lies in code is the
// only one up to which the code can be complete, and most texts need no compiler to find their end.
class PythonLexer {
 public:
  enum class Place : std::uint8_t { kCode, kComment, kString };

  explicit PythonLexer(std::string_view text, std::size_t begin = 0) : text_(text), position_(begin) {}

  // The place just before `position`; positions must not decrease from call to call.
  Place At(std::size_t position);

 private:
  void Step();
  void StepInString();

  std::string_view text_;
  std::size_t position_;
  Place place_ = Place::kCode;
  char quote_ = 0;
  bool triple_ = false;
};

// Bytes of the blank character at `position`: white space, and characters that nobody sees (zero-width spaces
// and joiners, byte order mark, soft hyphen, no-break space). 0 where something visible stands.
std::size_t BlankSize(std::string_view text, std::size_t position);
std::size_t SkipBlank(std::string_view text, std::size_t position);        // also over line ends
std::size_t SkipBlankInLine(std::string_view text, std::size_t position);  // stops at '\n'
std::string_view TrimBlank(std::string_view text);                         // at both ends
std::string_view TrimBlankEnd(std::string_view text);

std::size_t LineEnd(std::string_view text, std::size_t position);  // of the next '\n', or the text's size
std::size_t RunLength(std::string_view text, std::size_t position, char c);
bool StartsWithNoCase(std::string_view text, std::size_t position, std::string_view lower_case_prefix);

// Bytes of a chat template's token such as <|im_end|> at `position`; 0 for none.
std::size_t ChatTokenSize(std::string_view text, std::size_t position);

// Line ends become '\n', invalid UTF-8 becomes U+FFFD.
std::string NormalizeText(std::string_view text);

// Takes `indent` off every line as far as the line has it, then what all lines that are not blank still
// share.
std::string Dedent(std::string_view code, std::string_view indent);

// The code between two marks: blank lines around it, remains of closing marks at its end (half a fence or
// tag, chat tokens) and the indentation of the mark go; everything else stays.
std::string CutCode(std::string_view raw, std::string_view indent = {});

// Without closing tags, chat tokens and half fences at its end, as far as they lie outside of strings and
// comments.
std::string_view TrimTrailers(std::string_view raw);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_PYTHON_TEXT_H_
