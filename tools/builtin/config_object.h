// ConfigObject: an object of a configuration in JSON, read member by member with messages that say where.
// Every member must be asked for: Finish finds those that nobody knows.
//
// Not thread-safe; the JSON must outlive it.
#ifndef GLOVEPORT_TOOLS_BUILTIN_CONFIG_OBJECT_H_
#define GLOVEPORT_TOOLS_BUILTIN_CONFIG_OBJECT_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

class ConfigObject {
 public:
  // kInvalidArgument where it is no object. `place` is how messages name it: "http".
  static Result<ConfigObject> Of(const Json& json, std::string place);

  // Each leaves `out` as it is where the member is absent. kInvalidArgument where it is of another kind or
  // out of range.
  Status Text(std::string_view name, std::string& out);
  Status Texts(std::string_view name, std::vector<std::string>& out);
  Status TextMap(std::string_view name, std::map<std::string, std::string>& out);
  Status Count(std::string_view name, std::size_t& out);                  // from 1
  Status Count(std::string_view name, std::uint32_t& out);                // from 1
  Status Seconds(std::string_view name, std::chrono::milliseconds& out);  // above 0

  // The member, or null. For what has a form of its own.
  const Json* Take(std::string_view name);
  const std::string& place() const { return place_; }
  std::string PlaceOf(std::string_view name) const;  // "http.hosts"

  Status Finish() const;

 private:
  ConfigObject(const Json& json, std::string place) : json_(&json), place_(std::move(place)) {}
  tl::unexpected<Error> Wrong(std::string_view name, std::string_view expected) const;

  const Json* json_;
  std::string place_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_CONFIG_OBJECT_H_
