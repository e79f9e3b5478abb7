// The marks in a model's answer: fences, tags, labels, reasoning, JSON. Finds them all in one pass and says
// where they are; action_parser.cc decides what counts. Internal to core/agent; total and linear in the text.
#ifndef GLOVEPORT_CORE_AGENT_MARKUP_H_
#define GLOVEPORT_CORE_AGENT_MARKUP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gloveport/core/agent/code_end.h"

namespace gloveport {

enum class BlockKind : std::uint8_t {
  kTag,           // <code> on a line of its own or at its beginning
  kInlineTag,     // <code> behind other text
  kPython,        // a fence with a Python language tag
  kInlinePython,  // the same, opened and closed in one line
  kUntagged,      // a fence without a language
  kOther,         // a fence of another language: never run
  kJson,          // structured output, bare or in a fence
  kBadJson,       // the beginning of it
  kToolCall,      // a tool call as JSON or in tags
};

struct Block {
  BlockKind kind = BlockKind::kOther;
  std::size_t begin = 0;         // of the markup in the text
  std::size_t end = 0;           // behind it
  std::string code;              // cut out, indentation of the fence removed; of kJson the member "code"
  std::string thought;           // of kJson
  bool only_known_keys = false;  // of kJson
};

struct Markup {
  std::vector<Block> blocks;      // in order
  std::vector<std::size_t> cuts;  // begins of lines "Observation:" and "Calling tools:" outside of blocks
  std::optional<std::pair<std::size_t, std::size_t>> label;    // the first line "Code:" outside of blocks
  std::vector<std::pair<std::size_t, std::size_t>> reasoning;  // in order, not overlapping

  // The text between two positions without reasoning.
  std::string TextBetween(std::string_view text, std::size_t begin, std::size_t end) const;
};

// `text` is normalised (NormalizeText).
Markup ScanMarkup(std::string_view text, const CompletenessCheck& is_complete);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_MARKUP_H_
