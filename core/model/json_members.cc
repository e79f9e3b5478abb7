#include "gloveport/core/model/json_members.h"

namespace gloveport {

const Json* Member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string TextOf(const Json* member) {
  return member && member->is_string() ? member->get<std::string>() : "";
}

std::int64_t CountOf(const Json& object, const char* key) {
  const Json* member = Member(object, key);
  return member && member->is_number_integer() ? member->get<std::int64_t>() : 0;
}

}  // namespace gloveport
