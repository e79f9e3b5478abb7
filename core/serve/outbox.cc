#include "gloveport/core/serve/outbox.h"

#include <utility>

#include "gloveport/core/host/result_json.h"

namespace gloveport {

void Outbox::Send(Json line, const Json& members) {
  for (const auto& [key, value] : members.items()) line[key] = value;
  writer_.Write(DumpJson(line));
}

void Outbox::Ok(const Json& id, const Json& members) { Send({{"id", id}, {"ok", true}}, members); }

void Outbox::Failed(const Json& id, const Error& error) {
  Send({{"id", id}, {"ok", false}, {"error", ToJson(error)}}, Json::object());
}

void Outbox::Failed(const Json& id, std::string_view code, std::string_view message, std::string_view hint) {
  Json error = {{"code", code}, {"message", message}};
  if (!hint.empty()) error["hint"] = hint;
  Send({{"id", id}, {"ok", false}, {"error", std::move(error)}}, Json::object());
}

void Outbox::Answer(const Json& id, const Result<Json>& reply) {
  if (reply) {
    Ok(id, *reply);
  } else {
    Failed(id, reply.error());
  }
}

void Outbox::Event(const Json& id, std::string_view event, const Json& members) {
  Send({{"id", id}, {"event", event}}, members);
}

}  // namespace gloveport
