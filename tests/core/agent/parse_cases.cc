#include "gloveport/tests/core/agent/parse_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

ParseCase::Expectation ReadExpectation(const Json& json) {
  ParseCase::Expectation expected;
  if (json["code"].is_string()) expected.code = json["code"].get<std::string>();
  if (json["error"].is_string()) expected.error = json["error"].get<std::string>();
  return expected;
}

std::string TrimEnd(std::string text) {
  text.erase(text.find_last_not_of(" \t\n") + 1);
  return text;
}

std::string OneBlank(std::string_view text) {
  std::string out;
  for (const char c : Trim(text)) {
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (!blank) out += c;
    if (blank && !out.ends_with(' ')) out += ' ';
  }
  return out;
}

bool Meets(const ParseCase::Expectation& expected, const Action& action) {
  if (expected.code.has_value() != action.code.has_value()) return false;
  return expected.code ? TrimEnd(*expected.code) == TrimEnd(*action.code)
                       : expected.error == ActionErrorName(action.error);
}

}  // namespace

std::vector<ParseCase> LoadParseCases() {
  std::vector<ParseCase> cases;
  const auto file = ReadFile(std::string(GLOVEPORT_SOURCE_DIR) + "/tests/cases/parses.jsonl");
  EXPECT_TRUE(file.has_value());
  if (!file) return cases;
  for (const std::string_view line : SplitLines(*file)) {
    const Json json = ParseJson(line).value();
    ParseCase entry{json.at("id"), json.at("why"), json.at("text"), {ReadExpectation(json.at("expect"))}, {}};
    if (json.contains("accept_also")) {
      for (const Json& also : json["accept_also"]) entry.accepted.push_back(ReadExpectation(also));
    }
    if (json["expect"].contains("thought")) entry.thought = json["expect"]["thought"].get<std::string>();
    cases.push_back(std::move(entry));
  }
  return cases;
}

bool Accepts(const ParseCase& entry, const Action& action) {
  if (action.checker_error) return false;
  if (entry.thought && OneBlank(*entry.thought) != OneBlank(action.thought)) return false;
  return std::any_of(entry.accepted.begin(), entry.accepted.end(),
                     [&](const ParseCase::Expectation& expected) { return Meets(expected, action); });
}

}  // namespace gloveport
