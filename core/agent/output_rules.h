// OutputRules: what an answer may not carry out of a run. They look at the value, the explanation and the
// files and displays that a reader is given, and name the place of what they find.
//
// They find what is written as it is: data that code has encoded, summed up or rephrased goes through. They
// keep an honest model from mistakes; they hold nobody who means to get data out.
#ifndef GLOVEPORT_CORE_AGENT_OUTPUT_RULES_H_
#define GLOVEPORT_CORE_AGENT_OUTPUT_RULES_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/wire/value.h"
#include "gloveport/policy/policy.h"
#include "gloveport/policy/redaction.h"

namespace gloveport {

struct OutputRules {
  bool refuse_secrets = true;                // what the policy's redaction would take out
  std::vector<RedactionPattern> patterns;    // RE2, by name: what else no answer may hold
  std::size_t max_answer_bytes = 16u << 20;  // of the answer's JSON
  // The longest passage of a protected text that may appear word for word; 0: any. At least 16 otherwise.
  std::size_t max_verbatim_bytes = 0;
};

class OutputCheck {
 public:
  // kInvalidArgument for a pattern that is none and for a limit below 16.
  static Result<OutputCheck> Compile(const OutputRules& rules, const Policy& policy);

  // A text of which no passage may be handed on, under the name that findings give; without effect where
  // max_verbatim_bytes is 0.
  void Protect(std::string name, std::string text);

  // The path is a JSON Pointer into the value.
  std::vector<SchemaError> CheckAnswer(const Value& value, std::string_view explanation) const;
  // The path is `place`.
  std::vector<SchemaError> CheckText(std::string_view place, std::string_view text) const;
  // Each text of a bundle of MIME types. The path is `place` and the type.
  std::vector<SchemaError> CheckDisplay(std::string_view place, const Value& bundle) const;

 private:
  struct Protected {
    std::string name;
    std::string text;
  };
  struct Block {
    std::size_t text;    // index in protected_
    std::size_t offset;  // in it
  };
  OutputCheck(OutputRules rules, Redactor secrets, Redactor patterns);

  void CheckValue(const std::string& path, const Value& value, std::size_t depth,
                  std::vector<SchemaError>& found) const;
  // Names the text that has a passage of `text` longer than is allowed; null: none.
  const Protected* CopiedFrom(std::string_view text) const;
  bool IsCopied(std::string_view text, std::size_t at, const Block& block) const;

  OutputRules rules_;
  Redactor secrets_;
  Redactor patterns_;
  std::vector<Protected> protected_;
  std::unordered_multimap<std::uint64_t, Block> blocks_;  // by hash
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_OUTPUT_RULES_H_
