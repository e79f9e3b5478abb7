// Reading members of JSON that a server sent and that may have any form.
#ifndef GLOVEPORT_CORE_MODEL_JSON_MEMBERS_H_
#define GLOVEPORT_CORE_MODEL_JSON_MEMBERS_H_

#include <cstdint>
#include <string>

#include "gloveport/core/wire/value_json.h"

namespace gloveport {

// The member, or nullptr where it is null or absent or `object` is no object.
const Json* Member(const Json& object, const char* key);
std::string TextOf(const Json* member);                     // "" for what is no text
std::int64_t CountOf(const Json& object, const char* key);  // 0 for what is no integer of 64 bits

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_JSON_MEMBERS_H_
