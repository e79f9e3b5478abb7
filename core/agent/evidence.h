// What a run rests on, for people and for programs. Pure.
#ifndef GLOVEPORT_CORE_AGENT_EVIDENCE_H_
#define GLOVEPORT_CORE_AGENT_EVIDENCE_H_

#include <string>

#include "gloveport/core/agent/agent_result.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

// The block that a person reads at the end of a run: each cell with its outcome, files, refused attempts,
// tool calls, time and memory, layers of confinement, why it ended. Safe to show in a terminal; ends with a
// line end.
std::string EvidenceText(const AgentResult& result);

// The whole result, for --json: {"stop_reason", "stop_message", "answer", "explanation", "steps", "evidence",
// ...}. In `answer` and the cells, values that JSON lacks are one-key objects as in value_json.h.
Json ToJson(const AgentResult& result);
// {"after_step", "action", "reason", "message"}
Json ToJson(const RecoveryRecord& recovery);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_EVIDENCE_H_
