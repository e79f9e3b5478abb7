#include "gloveport/tools/builtin/config_object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "gloveport/core/base/text.h"

namespace gloveport {

Result<ConfigObject> ConfigObject::Of(const Json& json, std::string place) {
  if (!json.is_object())
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: expected an object", place));
  return ConfigObject(json, std::move(place));
}

std::string ConfigObject::PlaceOf(std::string_view name) const {
  return place_.empty() ? std::string(name) : fmt::format("{}.{}", place_, name);
}

tl::unexpected<Error> ConfigObject::Wrong(std::string_view name, std::string_view expected) const {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: expected {}", PlaceOf(name), expected));
}

const Json* ConfigObject::Take(std::string_view name) {
  known_.emplace(name);
  const auto found = json_->find(name);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

Status ConfigObject::Text(std::string_view name, std::string& out) {
  const Json* member = Take(name);
  if (member == nullptr) return {};
  if (!member->is_string()) return Wrong(name, "a text");
  out = member->get<std::string>();
  return {};
}

Status ConfigObject::Texts(std::string_view name, std::vector<std::string>& out) {
  const Json* member = Take(name);
  if (member == nullptr) return {};
  if (!member->is_array()) return Wrong(name, "a list of texts");
  out.clear();
  for (const Json& item : *member) {
    if (!item.is_string()) return Wrong(name, "a list of texts");
    out.push_back(item.get<std::string>());
  }
  return {};
}

Status ConfigObject::TextMap(std::string_view name, std::map<std::string, std::string>& out) {
  const Json* member = Take(name);
  if (member == nullptr) return {};
  if (!member->is_object()) return Wrong(name, "an object of texts");
  for (const auto& [key, item] : member->items()) {
    if (!item.is_string()) return Wrong(fmt::format("{}.{}", name, key), "a text");
    out[key] = item.get<std::string>();
  }
  return {};
}

Status ConfigObject::Count(std::string_view name, std::size_t& out) {
  const Json* member = Take(name);
  if (member == nullptr) return {};
  if (!member->is_number_unsigned() || member->get<std::uint64_t>() == 0)
    return Wrong(name, "an integer from 1");
  out = member->get<std::uint64_t>();
  return {};
}

Status ConfigObject::Count(std::string_view name, std::uint32_t& out) {
  std::size_t wide = out;
  RETURN_IF_ERROR(Count(name, wide));
  if (wide > std::numeric_limits<std::uint32_t>::max()) return Wrong(name, "a smaller integer");
  out = static_cast<std::uint32_t>(wide);
  return {};
}

Status ConfigObject::Seconds(std::string_view name, std::chrono::milliseconds& out) {
  const Json* member = Take(name);
  if (member == nullptr) return {};
  constexpr double kMost = 1e6;
  const double seconds = member->is_number() ? member->get<double>() : 0;
  if (!(seconds > 0) || seconds > kMost) return Wrong(name, "seconds above 0, a million at most");
  out = std::chrono::milliseconds(std::llround(std::ceil(seconds * 1e3)));
  return {};
}

Status ConfigObject::Finish() const {
  for (const auto& [key, member] : json_->items()) {
    if (known_.contains(key)) continue;
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: unknown key", PlaceOf(EscapeForTerminal(key))),
                fmt::format("the keys here are: {}", fmt::join(known_, ", ")));
  }
  return {};
}

}  // namespace gloveport
