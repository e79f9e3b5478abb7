// Reading members of JSON that came from outside and may have any form: the fallback where one is not what it
// should be. Pure functions.
#ifndef GLOVEPORT_CORE_WIRE_JSON_MEMBERS_H_
#define GLOVEPORT_CORE_WIRE_JSON_MEMBERS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "gloveport/core/wire/value_json.h"

namespace gloveport {

// The member, or nullptr where it is null or absent or `object` is no object.
const Json* Member(const Json& object, std::string_view key);
// The same, with null for what is not there: for chains and loops.
const Json& MemberOf(const Json& object, std::string_view key);

std::string TextOf(const Json* member);  // "" for what is no text
std::string TextOf(const Json& object, std::string_view key);
std::int64_t IntegerOf(const Json& object, std::string_view key);  // 0 for what is no integer of 64 bits
std::uint64_t CountOf(const Json& object, std::string_view key);   // 0 for what is no integer from 0 on
double NumberOf(const Json& object, std::string_view key);         // 0 for what is no number
bool FlagOf(const Json& object, std::string_view key);             // false for what is not true

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_WIRE_JSON_MEMBERS_H_
