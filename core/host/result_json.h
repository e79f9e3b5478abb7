// What the host says of a run, as JSON: the RESULT of the session protocol, also printed by `gloveport exec
// --json` and part of what an agent's run leaves. Pure functions; core/serve/PROTOCOL.md says what the fields
// mean.
#ifndef GLOVEPORT_CORE_HOST_RESULT_JSON_H_
#define GLOVEPORT_CORE_HOST_RESULT_JSON_H_

#include <string>
#include <vector>

#include "gloveport/core/host/outcome.h"
#include "gloveport/core/host/session.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

Json ToJson(const CellResult& result);
Json ToJson(const Verdict& verdict);
Json ToJson(const Usage& usage);
Json ToJson(const LimitHit& limit);
Json ToJson(const Error& error);                      // {"code","message","hint"?}
Json ToJson(const std::vector<LayerStatus>& layers);  // by name: {"active","detail","remedy"?}

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_RESULT_JSON_H_
