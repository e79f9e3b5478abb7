// AttackJudge: what the host saw of a payload, and whether any of it is an effect. Pure functions.
#ifndef GLOVEPORT_CORE_CLI_ATTACK_JUDGE_H_
#define GLOVEPORT_CORE_CLI_ATTACK_JUDGE_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/host/outcome.h"
#include "gloveport/core/host/session.h"

namespace gloveport {

// Lines "ESCAPED:..." of both streams.
std::vector<std::string> EscapedLines(const CellResult& result);

// Secrets of the host in any text that came out: output, values, errors, arguments of tools, displays.
std::vector<std::string> LeakedSecrets(const CellResult& result);

// What must not be true of a result, whatever the payload was, and for the payloads that only the host can
// judge.
std::vector<std::string> JudgeResult(std::string_view id, const CellResult& result,
                                     std::chrono::milliseconds wall);

// After the cell: what the host would collect, and what still runs.
std::vector<std::string> JudgeSession(std::string_view id, Session& session, InspectMode inspect);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_ATTACK_JUDGE_H_
