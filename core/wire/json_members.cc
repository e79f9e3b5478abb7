#include "gloveport/core/wire/json_members.h"

namespace gloveport {

const Json* Member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const Json& MemberOf(const Json& object, std::string_view key) {
  static const Json kNone;
  const Json* member = Member(object, key);
  return member ? *member : kNone;
}

std::string TextOf(const Json* member) {
  return member && member->is_string() ? member->get<std::string>() : "";
}

std::string TextOf(const Json& object, std::string_view key) { return TextOf(Member(object, key)); }

std::int64_t IntegerOf(const Json& object, std::string_view key) {
  const Json& member = MemberOf(object, key);
  return member.is_number_integer() ? member.get<std::int64_t>() : 0;
}

std::uint64_t CountOf(const Json& object, std::string_view key) {
  const Json& member = MemberOf(object, key);
  return member.is_number_unsigned() ? member.get<std::uint64_t>() : 0;
}

double NumberOf(const Json& object, std::string_view key) {
  const Json& member = MemberOf(object, key);
  return member.is_number() ? member.get<double>() : 0;
}

bool FlagOf(const Json& object, std::string_view key) {
  const Json& member = MemberOf(object, key);
  return member.is_boolean() && member.get<bool>();
}

}  // namespace gloveport
