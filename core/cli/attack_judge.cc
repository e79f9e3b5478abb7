#include "gloveport/core/cli/attack_judge.h"

#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/attack_surroundings.h"

namespace gloveport {
namespace {

constexpr std::string_view kMark = "ESCAPED:";
constexpr std::chrono::seconds kPatience{6};  // beyond the limit and the grace: a busy machine

// In any text of a value, at any depth; values from a session have a bounded depth.
bool Holds(const Value& value, std::string_view secret) {
  const auto holds = [&](const Value& inner) { return Holds(inner, secret); };
  if (value.is_text()) return value.as_text().find(secret) != std::string::npos;
  if (value.is_bytes()) return AsText(value.as_bytes()).find(secret) != std::string::npos;
  if (value.is_list()) return std::ranges::any_of(value.as_list(), holds);
  if (value.is_extended()) return holds(value.payload());
  if (!value.is_map()) return false;
  return std::ranges::any_of(value.as_map(),
                             [&](const auto& member) { return holds(member.first) || holds(member.second); });
}

bool Holds(const CellResult& result, std::string_view secret) {
  const auto in = [&](const std::string& text) { return text.find(secret) != std::string::npos; };
  if (in(result.out) || in(result.err) || in(result.repr) || Holds(result.value, secret)) return true;
  if (result.error && (in(result.error->type) || in(result.error->message) || in(result.error->traceback)))
    return true;
  if (result.final_answer && (in(result.final_answer->repr) || Holds(result.final_answer->value, secret)))
    return true;
  return std::ranges::any_of(result.displays, [&](const Value& display) { return Holds(display, secret); }) ||
         std::ranges::any_of(result.tool_calls, [&](const ToolCallRecord& call) {
           return in(call.error) || Holds(call.args, secret) || Holds(call.result, secret);
         });
}

bool ContainsControl(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
  });
}

// What a person's terminal would get.
bool ReachesTerminal(const std::string& text) {
  const std::string shown = EscapeForTerminal(text);
  constexpr std::string_view kDangerous[] = {"\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x80\x8B", "\xC2\x9B"};
  return ContainsControl(shown) || !IsValidUtf8(shown) ||
         std::ranges::any_of(kDangerous,
                             [&](std::string_view sign) { return shown.find(sign) != std::string::npos; });
}

bool ForgedInto(const CellResult& result) {
  return result.final_answer.has_value() || Holds(result.value, "FORGED");
}

using Judge = std::vector<std::string> (*)(const CellResult&);
struct Rule {
  std::string_view id;
  Judge judge;
};

std::vector<std::string> NoForgery(const CellResult& result) {
  if (ForgedInto(result)) return {"a forged value or final answer was accepted"};
  return {};
}
std::vector<std::string> NotSuccessful(const CellResult& result) {
  if (result.outcome == Outcome::kOk) return {"the cell is reported as successful"};
  return {};
}
std::vector<std::string> Escaped(const CellResult& result) {
  if (ReachesTerminal(result.out)) return {"control characters would reach a terminal"};
  return {};
}
std::vector<std::string> EscapedError(const CellResult& result) {
  if (result.error && ReachesTerminal(result.error->traceback + result.error->type + result.error->message))
    return {"control characters of an error would reach a terminal"};
  if (result.error && result.error->traceback.size() + result.error->message.size() > (4u << 20))
    return {"the text of an error has no limit"};
  return {};
}
std::vector<std::string> StreamsApart(const CellResult& result) {
  if (result.outcome != Outcome::kOk) return {};  // it got no further than its first import
  const bool apart =
      result.out.find("out199") != std::string::npos && result.out.find("err") == std::string::npos &&
      result.out.find("fake") == std::string::npos && result.err.find("err199") != std::string::npos &&
      result.err.find("out1") == std::string::npos;
  if (!apart) return {"the streams cannot be told apart"};
  return {};
}
std::vector<std::string> ToolCallsLimited(const CellResult& result) {
  if (result.usage.tool_calls > 1001 + 1 && result.tool_calls.size() > 1000)
    return {"more tool calls than the limit were served"};
  return {};
}

constexpr Rule kRules[] = {
    {"ipc-003", NoForgery},        {"out-006", NoForgery},    {"ipc-029", NoForgery},
    {"prc-013", NotSuccessful},    {"out-001", Escaped},      {"out-003", Escaped},
    {"out-004", Escaped},          {"out-005", NoForgery},    {"out-009", Escaped},
    {"out-013", Escaped},          {"ipc-024", EscapedError}, {"out-010", StreamsApart},
    {"ipc-009", ToolCallsLimited},
};

}  // namespace

std::vector<std::string> EscapedLines(const CellResult& result) {
  std::vector<std::string> lines;
  for (const std::string* stream : {&result.out, &result.err}) {
    for (const std::string_view line : SplitLines(*stream)) {
      if (line.starts_with(kMark)) lines.emplace_back(EscapeForTerminal(line.substr(0, 200)));
    }
  }
  return lines;
}

std::vector<std::string> LeakedSecrets(const CellResult& result) {
  std::vector<std::string> found;
  // The payloads name the beginning of the secret tool's answer themselves.
  for (const std::string_view secret : {kCanaryValue, kCanaryText, kSecretAnswer}) {
    if (Holds(result, secret)) found.push_back(fmt::format("the host's secret {} came out", secret));
  }
  return found;
}

std::vector<std::string> JudgeResult(std::string_view id, const CellResult& result,
                                     std::chrono::milliseconds wall) {
  std::vector<std::string> effects;
  if (result.usage.wall > wall + kPatience)
    effects.push_back(
        fmt::format("it ran for {:.1f} s", std::chrono::duration<double>(result.usage.wall).count()));
  for (const Rule& rule : kRules) {
    if (rule.id != id) continue;
    for (std::string& effect : rule.judge(result)) effects.push_back(std::move(effect));
  }
  return effects;
}

std::vector<std::string> JudgeSession(std::string_view id, Session& session, InspectMode inspect) {
  std::vector<std::string> effects;
  if (id == "fs-021") {
    for (const char* name : {"result.txt", "report.csv"}) {
      if (session.GetFile(name)) effects.push_back(fmt::format("the host followed the link {}", name));
    }
  }
  const auto next = session.Run("1 + 1", {.inspect = inspect});
  if (!next) {
    effects.push_back("the session cannot go on: " + next.error().message);
  } else {
    for (std::string& line : EscapedLines(*next)) effects.push_back("after its end: " + std::move(line));
  }
  return effects;
}

}  // namespace gloveport
