// Request: one line of the session protocol, read with limits. A plain value.
//
// The getters give errors that name the operation and the key; an operation lists the keys that it knows, and
// any other is refused, so that a misspelt "timeout" is not silently the default.
#ifndef GLOVEPORT_CORE_SERVE_REQUEST_H_
#define GLOVEPORT_CORE_SERVE_REQUEST_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

class Request {
 public:
  // kInvalidArgument for what is no JSON object, has a key twice, or has no text "op".
  static Result<Request> Parse(std::string_view line);

  // The "id" at the top of a line that may be malformed further on; null where none can be read.
  static Json FindId(std::string_view line);

  const Json& id() const { return id_; }  // null where the client gave none
  const std::string& op() const { return op_; }
  const Json& body() const { return body_; }
  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  const Json* Find(std::string_view key) const;  // nullptr where absent

  Status RefuseUnknownKeys(std::span<const std::string_view> known) const;
  Result<const Json*> Need(std::string_view key) const;
  Result<std::string> Text(std::string_view key) const;
  Result<bool> BoolOr(std::string_view key, bool fallback) const;
  Result<std::optional<std::uint64_t>> Count(std::string_view key) const;  // an integer from 0
  Result<std::optional<double>> PositiveNumber(std::string_view key) const;

 private:
  Json id_;
  std::string op_;
  Json body_;
};

// "string", "number", ...: what a JSON value is, for messages.
std::string JsonKind(const Json& json);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_REQUEST_H_
