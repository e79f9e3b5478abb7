// Members of a record, whose type is whatever the file says: the fallback where they are not what they should
// be.
#ifndef GLOVEPORT_CORE_RECORD_MEMBERS_H_
#define GLOVEPORT_CORE_RECORD_MEMBERS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "gloveport/core/wire/value_json.h"

namespace gloveport {

inline const Json& MemberOf(const Json& json, std::string_view key) {
  static const Json kNone;
  if (!json.is_object()) return kNone;
  const auto found = json.find(key);
  return found == json.end() ? kNone : *found;
}
inline std::string TextOf(const Json& json, std::string_view key) {
  const Json& member = MemberOf(json, key);
  return member.is_string() ? member.get<std::string>() : std::string();
}
inline std::uint64_t CountOf(const Json& json, std::string_view key) {
  const Json& member = MemberOf(json, key);
  return member.is_number_unsigned() ? member.get<std::uint64_t>() : 0;
}
inline double NumberOf(const Json& json, std::string_view key) {
  const Json& member = MemberOf(json, key);
  return member.is_number() ? member.get<double>() : 0;
}
inline bool FlagOf(const Json& json, std::string_view key) {
  const Json& member = MemberOf(json, key);
  return member.is_boolean() && member.get<bool>();
}

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_MEMBERS_H_
