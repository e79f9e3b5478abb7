#include "gloveport/core/cli/attack_corpus.h"

#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

struct Visible {
  std::string_view id;
  std::string_view what;
};
constexpr Visible kVisible[] = {
    {"aud-003", "the existence and the metadata of host paths whose names are known"},
    {"lek-007", "the host's name, by uname"},
};

std::string_view VisibleWhenDegraded(std::string_view id) {
  for (const Visible& visible : kVisible) {
    if (visible.id == id) return visible.what;
  }
  return {};
}

Result<AttackPayload> ReadPayload(std::string_view line) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(line));
  if (!json.is_object()) return Fail(ErrorCode::kInvalidArgument, "no JSON object");
  const auto text = [&](const char* key, std::string fallback) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::move(fallback);
  };
  AttackPayload payload;
  payload.id = text("id", "");
  payload.family = text("family", "other");
  payload.technique = text("technique", "");
  payload.code = text("code", "");
  payload.expect = text("expect", payload.expect);
  payload.for_x86_64 = text("arch", "any") == "x86_64";
  payload.sessions = json.value("sessions", 1) == 2 ? 2 : 1;
  payload.visible_when_degraded = text("visible_when_degraded", std::string(VisibleWhenDegraded(payload.id)));
  payload.verified_unsandboxed = json.value("verified_unsandboxed", false);
  if (payload.id.empty() || payload.code.empty())
    return Fail(ErrorCode::kInvalidArgument, "an id and code are needed");
  return payload;
}

}  // namespace

Result<std::vector<AttackPayload>> ParseAttackCorpus(std::string_view json_lines) {
  std::vector<AttackPayload> payloads;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(json_lines)) {
    ++number;
    if (Trim(line).empty()) continue;
    auto payload = ReadPayload(line);
    if (!payload) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("attack corpus, line {}: {}", number, payload.error().message));
    }
    const auto same = [&](const AttackPayload& other) { return other.id == payload->id; };
    if (std::ranges::any_of(payloads, same)) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("attack corpus, line {}: the id {} stands twice", number, payload->id));
    }
    payloads.push_back(std::move(*payload));
  }
  return payloads;
}

bool RunsHere(const AttackPayload& payload) {
#if defined(__x86_64__)
  (void)payload;
  return true;
#else
  return !payload.for_x86_64;
#endif
}

}  // namespace gloveport
