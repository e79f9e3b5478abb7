#include "gloveport/core/serve/request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace gloveport {
namespace {

// Follows a text only as far as it is JSON and remembers the first "id" of the outermost object.
class IdFinder : public nlohmann::json_sax<Json> {
 public:
  const Json& id() const { return id_; }

  bool null() override { return Scalar(Json()); }
  bool boolean(bool value) override { return Scalar(Json(value)); }
  bool number_integer(number_integer_t value) override { return Scalar(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Scalar(Json(value)); }
  bool number_float(number_float_t value, const string_t&) override { return Scalar(Json(value)); }
  bool string(string_t& value) override { return Scalar(Json(value)); }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Open(); }
  bool start_array(std::size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    at_id_ = depth_ == 1 && name == "id";
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool Scalar(Json value) {
    if (!at_id_) return true;
    id_ = std::move(value);
    return false;  // found: the rest does not matter
  }
  bool Open() {
    at_id_ = false;
    ++depth_;
    return true;
  }
  bool Close() {
    --depth_;
    return true;
  }

  Json id_;
  bool at_id_ = false;
  int depth_ = 0;
};

}  // namespace

std::string JsonKind(const Json& json) {
  if (json.is_number_integer()) return "integer";
  if (json.is_null()) return "null";
  return json.type_name();  // object, array, string, boolean, number
}

Json Request::FindId(std::string_view line) {
  IdFinder finder;
  Json::sax_parse(line.begin(), line.end(), &finder);
  return finder.id();
}

Result<Request> Request::Parse(std::string_view line) {
  auto parsed = ParseJson(line);
  if (!parsed) {
    return Fail(ErrorCode::kInvalidArgument, "the line is no valid JSON: " + parsed.error().message,
                "send one JSON object a line, UTF-8, each key once");
  }
  if (!parsed->is_object()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the line is a JSON {}, not an object", JsonKind(*parsed)),
                R"(send one JSON object a line, for example {"id":1,"op":"open"})");
  }
  Request request;
  request.body_ = std::move(*parsed);
  if (const Json* id = request.Find("id")) {
    if (id->is_structured()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "\"id\" must be a number or a string, not an " + JsonKind(*id));
    }
    request.id_ = *id;
  }
  const Json* op = request.Find("op");
  if (op == nullptr || !op->is_string()) {
    return Fail(ErrorCode::kInvalidArgument, "the request has no text \"op\"",
                R"(name the operation, for example {"id":1,"op":"open"})");
  }
  request.op_ = op->get<std::string>();
  return request;
}

const Json* Request::Find(std::string_view key) const {
  const auto found = body_.find(key);
  return found == body_.end() ? nullptr : &*found;
}

Status Request::RefuseUnknownKeys(std::span<const std::string_view> known) const {
  for (const auto& [key, value] : body_.items()) {
    if (key == "id" || key == "op" || std::ranges::find(known, key) != known.end()) continue;
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: unknown key \"{}\"", op_, key),
                known.empty() ? fmt::format("{} takes no further keys", op_)
                              : fmt::format("the keys of {} are: {}", op_, fmt::join(known, ", ")));
  }
  return {};
}

Result<const Json*> Request::Need(std::string_view key) const {
  const Json* found = Find(key);
  if (found == nullptr)
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: \"{}\" is missing", op_, key));
  return found;
}

Result<std::string> Request::Text(std::string_view key) const {
  ASSIGN_OR_RETURN(const Json* found, Need(key));
  if (!found->is_string()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: \"{}\" must be a string, not {}", op_, key, JsonKind(*found)));
  }
  return found->get<std::string>();
}

Result<bool> Request::BoolOr(std::string_view key, bool fallback) const {
  const Json* found = Find(key);
  if (found == nullptr || found->is_null()) return fallback;
  if (!found->is_boolean()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: \"{}\" must be true or false, not {}", op_, key, JsonKind(*found)));
  }
  return found->get<bool>();
}

Result<std::optional<std::uint64_t>> Request::Count(std::string_view key) const {
  const Json* found = Find(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  if (!found->is_number_unsigned()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: \"{}\" must be an integer from 0", op_, key));
  }
  return found->get<std::uint64_t>();
}

Result<std::optional<double>> Request::PositiveNumber(std::string_view key) const {
  const Json* found = Find(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  if (!found->is_number() || !(found->get<double>() > 0)) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: \"{}\" must be a number above 0", op_, key));
  }
  return found->get<double>();
}

}  // namespace gloveport
