// Finds where the code of a fence or a <code> tag ends, although the code may hold fences and tags in its
// strings. Internal to core/agent.
#ifndef GLOVEPORT_CORE_AGENT_CODE_END_H_
#define GLOVEPORT_CORE_AGENT_CODE_END_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "gloveport/core/agent/python_text.h"

namespace gloveport {

// Whether a text is complete Python. Only asked where a closing mark may lie inside a string of the code.
using CompletenessCheck = std::function<bool(std::string_view code)>;

struct CodeEnd {
  std::size_t end = 0;     // of the code
  std::size_t resume = 0;  // where scanning goes on
  bool closed = false;     // by its own closing mark
  bool by_tag = false;     // a <code> tag begins at `resume`
  bool reset = false;      // a lone closing tag of reasoning ends at `resume`: all before it was only thought
  bool mention = false;    // no block at all: the tag was only spoken of
};

class CodeEndFinder {
 public:
  // Both must outlive the finder.
  CodeEndFinder(std::string_view text, const CompletenessCheck& is_complete)
      : text_(text), is_complete_(is_complete) {}

  // The body of a fence of at least `ticks` characters `c`, indented by `indent`.
  CodeEnd OfFence(std::size_t body, char c, std::size_t ticks, std::string_view indent);

  // The body of a <code> tag; `own_line` tells one that begins or ends its line from one amid prose.
  enum class TagPlace { kOwnLine, kInProse };
  CodeEnd OfTag(std::size_t body, TagPlace place);

  // Ticks that close a fence before `eol`.
  std::optional<std::size_t> TicksInLine(std::size_t begin, std::size_t eol, std::size_t ticks);

 private:
  // What has been seen on the way to the end.
  struct Seen {
    std::optional<CodeEnd> in_string;     // the first closing mark, where it lies in a string
    std::optional<CodeEnd> in_comment;    // a closing mark at the end of a comment
    std::optional<std::size_t> invented;  // the line of an observation that the model made up
  };

  std::optional<CodeEnd> AtLineStart(std::size_t line, std::size_t p, std::size_t run) const;
  CodeEnd AtTextEnd(std::size_t body, PythonLexer& lexer, Seen& seen, std::string_view indent);
  CodeEnd Settle(std::size_t body, CodeEnd in_code, const Seen& seen, std::string_view indent);
  std::optional<CodeEnd> TagCloseInLine(PythonLexer& lexer, std::size_t begin, Seen& seen) const;
  std::optional<CodeEnd> TicksCloseInLine(PythonLexer& lexer, std::size_t begin, std::size_t ticks,
                                          Seen& seen) const;
  bool HasFenceBehind(std::size_t position);
  bool tired() const;

  std::string_view text_;
  const CompletenessCheck& is_complete_;
  std::optional<std::size_t> last_fence_;
  int fallbacks_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_CODE_END_H_
