// Taking a JsonNode tree apart with errors that name the place: one handler per key, unknown keys refused.
#ifndef GLOVEPORT_POLICY_JSON_FIELDS_H_
#define GLOVEPORT_POLICY_JSON_FIELDS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/json_reader.h"

namespace gloveport {

class JsonFields {
 public:
  using Handler = std::function<Status(const JsonNode&)>;
  struct Field {
    std::string_view key;
    Handler handler;
  };

  // Where `faults` is given, a field or an item that is wrong goes there, and reading goes on with the next,
  // so that one reading finds all that is wrong. It must outlive this object.
  explicit JsonFields(std::string_view origin, std::vector<Error>* faults = nullptr)
      : origin_(origin), faults_(faults) {}

  tl::unexpected<Error> Fault(JsonPosition at, std::string_view message, std::string hint = "") const {
    return JsonFault(origin_, at, message, std::move(hint));
  }

  // Calls the handler of each key that is there. `what` names the object: "limits", "a tool rule".
  Status Object(const JsonNode& node, std::string_view what, const std::vector<Field>& fields) const;
  // Calls the handler for each item.
  Status List(const JsonNode& node, std::string_view what, const Handler& handler) const;
  Status Text(const JsonNode& node, std::string_view what, std::string& out) const;
  Status Number(const JsonNode& node, std::string_view what, double& out) const;
  // A whole number between the two, both included.
  Status Whole(const JsonNode& node, std::string_view what, std::uint64_t least, std::uint64_t most,
               std::uint64_t& out) const;
  // The index of the word among those allowed.
  Result<std::size_t> Word(const JsonNode& node, std::string_view what,
                           std::span<const std::string_view> words) const;
  Status Expect(const JsonNode& node, JsonNode::Kind kind, std::string_view what) const;
  // An error becomes a fault where those are collected.
  Status Keep(Status status) const;
  std::size_t fault_count() const { return faults_ == nullptr ? 0 : faults_->size(); }

 private:
  std::string origin_;
  std::vector<Error>* faults_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_JSON_FIELDS_H_
