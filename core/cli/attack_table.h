// The result of an attack as text for people and as JSON. Pure functions.
#ifndef GLOVEPORT_CORE_CLI_ATTACK_TABLE_H_
#define GLOVEPORT_CORE_CLI_ATTACK_TABLE_H_

#include <string>
#include <vector>

#include "gloveport/core/cli/attack_corpus.h"
#include "gloveport/core/cli/attack_run.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

// A table by family, then every payload that had an effect, with what it was.
std::string AttackTable(const AttackReport& report, const std::vector<AttackPayload>& payloads);
Json AttackJson(const AttackReport& report);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_ATTACK_TABLE_H_
