// JSON that a model wrote where code was asked for: structured output {"thought", "code"}, a tool call, or
// data. Internal to core/agent; pure and total.
#ifndef GLOVEPORT_CORE_AGENT_STRUCTURED_OUTPUT_H_
#define GLOVEPORT_CORE_AGENT_STRUCTURED_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gloveport {

enum class JsonKind : std::uint8_t {
  kNone,      // no JSON object or list of objects begins here
  kData,      // an object that asks for nothing
  kCode,      // an object with a text member "code"
  kNoCode,    // structured output without code
  kToolCall,  // a call in the form of a model's tool interface, or a list of such
  kBroken,    // begins like structured output and is no valid JSON
};

struct JsonFound {
  JsonKind kind = JsonKind::kNone;
  std::size_t end = 0;  // just behind the JSON; the text's end for kBroken
  std::string code;
  std::string thought;
  bool only_known_keys = false;  // nothing besides "thought" and "code"
};

// What begins at text[begin], a '{' or '['.
JsonFound ReadModelJson(std::string_view text, std::size_t begin);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_STRUCTURED_OUTPUT_H_
