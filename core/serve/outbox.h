// Outbox: replies and events of the session protocol, as lines of a LineWriter. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_OUTBOX_H_
#define GLOVEPORT_CORE_SERVE_OUTBOX_H_

#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/serve/line_writer.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

class Outbox {
 public:
  explicit Outbox(LineWriter& writer) : writer_(writer) {}

  void Ok(const Json& id, const Json& members = Json::object());
  void Failed(const Json& id, const Error& error);
  // `code` where none of the ErrorCodes says it, for example "unsupported".
  void Failed(const Json& id, std::string_view code, std::string_view message, std::string_view hint);
  void Answer(const Json& id, const Result<Json>& reply);
  void Event(const Json& id, std::string_view event, const Json& members);

 private:
  void Send(Json line, const Json& members);

  LineWriter& writer_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_OUTBOX_H_
