// AttackCorpus: payloads that try to break out of a session, one JSON object a line (tests/cases/README.md,
// section escapes.jsonl). Pure functions.
#ifndef GLOVEPORT_CORE_CLI_ATTACK_CORPUS_H_
#define GLOVEPORT_CORE_CLI_ATTACK_CORPUS_H_

#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport {

struct AttackPayload {
  std::string id;
  std::string family;
  std::string technique;
  std::string code;                  // one cell; prints a line "ESCAPED:..." where it succeeds
  std::string expect = "contained";  // or "crash-contained", "host-judged"
  int sessions = 1;                  // 2: run in one session, then in a fresh one, and only the second counts
  bool for_x86_64 = false;
  bool verified_unsandboxed = false;  // prints ESCAPED under a plain interpreter
  std::string visible_when_degraded;  // what it sees where there is no own root, as SECURITY.md states
};

// kInvalidArgument with the line for what is no payload.
Result<std::vector<AttackPayload>> ParseAttackCorpus(std::string_view json_lines);

// The corpus that `gloveport doctor --attack` runs, compiled in.
std::string_view ShippedAttackCorpus();

// A cell that takes the audit hook out of the interpreter, as native code would; its value is the number of
// hooks that it found. Run first, it leaves a payload with the kernel alone.
std::string_view AttackPrelude();

// Whether this machine's architecture can run it.
bool RunsHere(const AttackPayload& payload);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_ATTACK_CORPUS_H_
