#include "gloveport/core/wire/template_messages.h"

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/wire/cbor.h"

namespace gloveport::wire {
namespace {

Value BytesOf(const std::string& text) {
  const auto view = AsBytes(text);
  return Value(Value::Bytes(view.begin(), view.end()));
}

std::string BytesAt(const Value& map, std::string_view key) {
  const Value* member = map.Find(key);
  return member && member->is_bytes() ? std::string(AsText(member->as_bytes())) : std::string();
}

Result<Value> DecodeMap(std::string_view packet) {
  ASSIGN_OR_RETURN(Value map, DecodeValue(packet));
  if (!map.is_map()) return Fail(ErrorCode::kProtocol, "a template packet that is no map");
  return map;
}

}  // namespace

std::string Encode(const TemplateStart& m) {
  Value map = Value::Object({{"inspector", m.inspector},
                             {"imports_ahead", m.imports_ahead},
                             {"own_root", m.own_root},
                             {"landlock", m.landlock},
                             {"dumpable", m.dumpable},
                             {"spare_uid", std::int64_t{m.spare_uid}},
                             {"policy", m.policy},
                             {"workdir", m.workdir},
                             {"notify_filter", BytesOf(m.notify_filter)},
                             {"main_filter", BytesOf(m.main_filter)}});
  if (m.hash_seed) map.Set("hash_seed", Value(std::int64_t{*m.hash_seed}));
  return EncodeValue(map);
}

Result<TemplateStart> DecodeTemplateStart(std::string_view packet) {
  ASSIGN_OR_RETURN(const Value map, DecodeMap(packet));
  TemplateStart m;
  m.inspector = map.BoolOr("inspector", false);
  m.imports_ahead = map.BoolOr("imports_ahead", true);
  m.own_root = map.BoolOr("own_root", true);
  m.landlock = map.BoolOr("landlock", true);
  m.dumpable = map.BoolOr("dumpable", false);
  if (map.Find("hash_seed")) m.hash_seed = static_cast<std::uint32_t>(map.IntOr("hash_seed", 0));
  m.spare_uid = static_cast<std::uint32_t>(map.IntOr("spare_uid", 0));
  m.policy = map.TextOr("policy", "");
  m.workdir = map.TextOr("workdir", "");
  m.notify_filter = BytesAt(map, "notify_filter");
  m.main_filter = BytesAt(map, "main_filter");
  return m;
}

std::string Encode(const TemplateReply& m) {
  Value::List missing;
  for (const auto& name : m.missing) missing.emplace_back(name);
  return EncodeValue(Value::Object({{"ok", m.ok},
                                    {"pid", std::int64_t{m.pid}},
                                    {"missing", std::move(missing)},
                                    {"error_code", m.error_code},
                                    {"message", m.message},
                                    {"hint", m.hint},
                                    {"status", std::int64_t{m.status}}}));
}

Result<TemplateReply> DecodeTemplateReply(std::string_view packet) {
  ASSIGN_OR_RETURN(const Value map, DecodeMap(packet));
  TemplateReply m;
  m.ok = map.BoolOr("ok", false);
  m.pid = static_cast<std::int32_t>(map.IntOr("pid", 0));
  m.error_code = map.TextOr("error_code", "internal");
  m.message = map.TextOr("message", "");
  m.hint = map.TextOr("hint", "");
  m.status = static_cast<std::int32_t>(map.IntOr("status", 0));
  if (const Value* missing = map.Find("missing"); missing && missing->is_list()) {
    for (const Value& name : missing->as_list()) {
      if (name.is_text()) m.missing.push_back(name.as_text());
    }
  }
  return m;
}

std::string Encode(const ForkRequest& m) {
  Value map = Value::Object(
      {{"op", "fork"}, {"data_bytes", m.data_bytes}, {"address_space_bytes", m.address_space_bytes}});
  if (m.seed) map.Set("seed", Value(static_cast<std::int64_t>(*m.seed)));
  return EncodeValue(map);
}

std::string Encode(const ReapRequest& m) {
  return EncodeValue(Value::Object({{"op", "reap"}, {"pid", std::int64_t{m.pid}}}));
}

Result<TemplateRequest> DecodeTemplateRequest(std::string_view packet) {
  ASSIGN_OR_RETURN(const Value map, DecodeMap(packet));
  TemplateRequest request;
  const std::string op = map.TextOr("op", "");
  if (op == "reap") {
    request.reap = ReapRequest{static_cast<std::int32_t>(map.IntOr("pid", 0))};
  } else if (op == "fork") {
    ForkRequest fork;
    fork.data_bytes = static_cast<std::uint64_t>(map.IntOr("data_bytes", 0));
    fork.address_space_bytes = static_cast<std::uint64_t>(map.IntOr("address_space_bytes", 0));
    if (map.Find("seed")) fork.seed = static_cast<std::uint64_t>(map.IntOr("seed", 0));
    request.fork = fork;
  } else {
    return Fail(ErrorCode::kProtocol, "an unknown template request");
  }
  return request;
}

}  // namespace gloveport::wire
