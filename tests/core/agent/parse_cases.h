// The cases of tests/cases/parses.jsonl; tests/cases/README.md is the format.
#ifndef GLOVEPORT_TESTS_CORE_AGENT_PARSE_CASES_H_
#define GLOVEPORT_TESTS_CORE_AGENT_PARSE_CASES_H_

#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/agent/action_parser.h"

namespace gloveport {

struct ParseCase {
  struct Expectation {
    std::optional<std::string> code;
    std::string error;
  };
  std::string id;
  std::string why;
  std::string text;
  std::vector<Expectation> accepted;  // the first is the rule, the others are tolerable
  std::optional<std::string> thought;
};

std::vector<ParseCase> LoadParseCases();

// Code, error and thought as the case wants them, and the checker was there.
bool Accepts(const ParseCase& entry, const Action& action);

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_AGENT_PARSE_CASES_H_
