// The host functions that cells.jsonl describes (tests/cases/README.md, "behavior").
#ifndef GLOVEPORT_TESTS_INTERP_CHILD_CASE_TOOLS_H_
#define GLOVEPORT_TESTS_INTERP_CHILD_CASE_TOOLS_H_

#include <map>
#include <string>

#include "gloveport/core/wire/messages.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport::testing {

class CaseTools {
 public:
  explicit CaseTools(Json tools) : tools_(std::move(tools)) {}

  Value Definitions() const;  // the argument of the request define_tools
  wire::ToolReply Answer(const wire::ToolCall& call);

 private:
  Json tools_;
  std::map<std::string, int> counts_;
};

}  // namespace gloveport::testing

#endif  // GLOVEPORT_TESTS_INTERP_CHILD_CASE_TOOLS_H_
