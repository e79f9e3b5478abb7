#include "gloveport/tests/interp/child/case_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/cbor.h"

namespace gloveport::testing {
namespace {

const Value* Items(const Value& value) {
  if (value.is_list()) return &value;
  if (value.is(Form::kTuple) || value.is(Form::kNamedtuple)) return &value.payload();
  return nullptr;
}

bool Same(const Json& expected, const Value& actual);

bool SameItems(const Json& expected, const Value& actual) {
  if (actual.is(Form::kNamedtuple)) {
    const Value* fields = actual.payload().Find("fields");
    Value::List items;
    for (const auto& [name, item] : fields->as_map()) items.push_back(item);
    return Same(expected, Value(std::move(items)));
  }
  const Value* items = Items(actual);
  if (items == nullptr || items->as_list().size() != expected.size()) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!Same(expected[i], items->as_list()[i])) return false;
  }
  return true;
}

bool SameMembers(const Json& expected, const Value& actual) {
  if (!actual.is_map() || actual.as_map().size() != expected.size()) return false;
  for (const auto& [key, value] : expected.items()) {
    const Value* found = actual.Find(key);
    if (found == nullptr || !Same(value, *found)) return false;
  }
  return true;
}

bool Same(const Json& expected, const Value& actual) {
  if (expected.is_null()) return actual.is_null();
  if (expected.is_boolean()) return actual.is_bool() && actual.as_bool() == expected.get<bool>();
  if (expected.is_string()) return actual.is_text() && actual.as_text() == expected.get<std::string>();
  if (expected.is_array()) return SameItems(expected, actual);
  if (expected.is_object() && expected.size() == 1 && expected.contains("$int")) {
    return actual.is_big_int() && actual.as_big_int().ToDecimal() == expected["$int"].get<std::string>();
  }
  if (expected.is_object()) return SameMembers(expected, actual);
  if (actual.is_int() && expected.is_number_integer()) return actual.as_int() == expected.get<std::int64_t>();
  if (!actual.is_double() && !actual.is_int()) return false;
  const double number = actual.is_double() ? actual.as_double() : static_cast<double>(actual.as_int());
  const double wanted = expected.get<double>();
  return std::abs(number - wanted) <= 1e-9 * std::max(std::abs(wanted), std::abs(number));
}

Value Decoded(const wire::Encoded& encoded) {
  auto value = DecodeValue(encoded);
  return value ? std::move(*value) : Value("UNDECODABLE " + value.error().message);
}

// One comparison after the other; the first mismatch is kept.
class Checker {
 public:
  Checker(const Json& expected, const CellRun& run, std::uint32_t cell, const std::filesystem::path& folder)
      : expected_(expected), run_(run), cell_(cell), folder_(folder) {
    if (run.done) {
      error_ = Decoded(run.done->error);
      value_ = Decoded(run.done->value);
    }
  }

  std::string Check() {
    if (expected_.value("timeout", false)) return run_.timed_out ? "" : "no time-out";
    if (!run_.done) return run_.killed ? "killed at the time limit" : "the session died";
    if (run_.timed_out) return "timed out";
    CheckError();
    CheckValue();
    CheckFinal();
    CheckOutput();
    CheckToolCalls();
    CheckFiles();
    return problem_;
  }

 private:
  void Demand(bool holds, const std::string& otherwise) {
    if (!holds && problem_.empty()) problem_ = otherwise;
  }
  void DemandParts(const char* key, const std::string& text, bool present = true) {
    for (const Json& part : expected_.value(key, Json::array())) {
      const bool found = text.find(part.get<std::string>()) != std::string::npos;
      Demand(found == present, fmt::format("{}: {} in: {}", key, part.dump(), text.substr(0, 1500)));
    }
  }
  bool failed() const { return run_.done->status != "ok" && !run_.final_answer; }
  std::string traceback() const { return error_.TextOr("traceback", ""); }

  void CheckError() {
    const std::string type = failed() ? error_.TextOr("type", "?") : std::string();
    if (expected_.contains("error_type_any")) {
      const Json& any = expected_["error_type_any"];
      const bool found = std::any_of(any.begin(), any.end(), [&](const Json& one) {
        return one.is_null() ? type.empty() : one.get<std::string>() == type;
      });
      Demand(found, fmt::format("error type is '{}'\n{}", type, traceback()));
    } else {
      const Json wanted = expected_.value("error_type", Json());
      const std::string name = wanted.is_null() ? std::string() : wanted.get<std::string>();
      Demand(type == name, fmt::format("error type is '{}' and not '{}'\n{}", type, name, traceback()));
    }
    if (type.empty()) return;
    DemandParts("error_message_contains", error_.TextOr("message", ""));
    DemandParts("traceback_contains", traceback());
    if (!expected_.contains("error_line")) return;
    const std::int64_t line = expected_["error_line"].get<std::int64_t>();
    const std::int64_t in_cell = expected_.value("error_cell", static_cast<std::int64_t>(cell_));
    Demand(error_.IntOr("line", 0) == line && error_.IntOr("cell", -1) == in_cell,
           fmt::format("error at cell {} line {}, not cell {} line {}\n{}", error_.IntOr("cell", -1),
                       error_.IntOr("line", 0), in_cell, line, traceback()));
  }

  void CheckValue() {
    if (expected_.contains("result")) {
      Demand(Same(expected_["result"], value_), fmt::format("value is {}", DumpJson(value_).substr(0, 500)));
    }
    if (expected_.contains("result_repr")) {
      Demand(run_.done->repr == expected_["result_repr"].get<std::string>(), "repr is " + run_.done->repr);
    }
    if (expected_.contains("result_type")) {
      Demand(run_.done->type == expected_["result_type"].get<std::string>(), "type is " + run_.done->type);
    }
    DemandParts("result_repr_contains", run_.done->repr);
  }

  void CheckFinal() {
    const bool wanted = expected_.contains("final_answer") || expected_.contains("final_answer_repr") ||
                        expected_.value("is_final", false);
    if (wanted || expected_.contains("is_final")) {
      Demand(run_.final_answer.has_value() == wanted, "final answer or not");
    }
    if (!run_.final_answer) return;
    if (expected_.contains("final_answer")) {
      const Value answer = Decoded(run_.final_answer->value);
      Demand(Same(expected_["final_answer"], answer), "final answer is " + DumpJson(answer));
    }
    if (expected_.contains("final_answer_repr")) {
      Demand(run_.final_answer->repr == expected_["final_answer_repr"].get<std::string>(),
             "final answer is " + run_.final_answer->repr);
    }
  }

  void CheckOutput() {
    Demand(IsValidUtf8(run_.out) && IsValidUtf8(run_.err), "output is no UTF-8");
    if (expected_.contains("stdout")) {
      Demand(run_.out == expected_["stdout"].get<std::string>(),
             "stdout is " + Json(ToValidUtf8(run_.out)).dump());
    }
    if (expected_.contains("stderr"))
      Demand(run_.err == expected_["stderr"].get<std::string>(), "stderr: " + run_.err);
    DemandParts("stdout_contains", run_.out);
    DemandParts("stdout_not_contains", run_.out, false);
    DemandParts("stderr_contains", run_.err);
    if (expected_.contains("stdout_chars")) {
      const auto chars = std::count_if(run_.out.begin(), run_.out.end(),
                                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
      Demand(chars == expected_["stdout_chars"].get<std::int64_t>(), fmt::format("{} characters", chars));
    }
    if (expected_.contains("images")) {
      const auto images = std::count_if(
          run_.displays.begin(), run_.displays.end(),
          [](const wire::Display& display) { return Decoded(display.bundle).Find("image/png") != nullptr; });
      Demand(images == expected_["images"].get<std::int64_t>(), fmt::format("{} images", images));
    }
  }

  void CheckToolCalls() {
    if (!expected_.contains("tool_calls")) return;
    std::vector<const Json*> wanted;
    for (const Json& call : expected_["tool_calls"]) wanted.push_back(&call);
    Demand(wanted.size() == run_.tool_calls.size(), fmt::format("{} tool calls", run_.tool_calls.size()));
    const bool ordered = !expected_.value("tool_calls_unordered", false);
    for (const wire::ToolCall& call : run_.tool_calls) {
      const Value args = Decoded(call.args);
      const auto found = std::find_if(
          wanted.begin(), ordered && !wanted.empty() ? wanted.begin() + 1 : wanted.end(),
          [&](const Json* one) { return (*one)["name"] == call.name && Same((*one)["args"], args); });
      if (found == wanted.end() || !((**found)["name"] == call.name && Same((**found)["args"], args))) {
        return Demand(false, "unexpected tool call " + call.name + DumpJson(args));
      }
      wanted.erase(found);
    }
  }

  void CheckFiles() {
    const Json files = expected_.value("files", Json::object());
    for (const auto& [name, demand] : files.items()) {
      const auto text = ReadFile(folder_ / name);
      if (demand.is_string()) {
        Demand(text && *text == demand.get<std::string>(), fmt::format("file {} differs", name));
        continue;
      }
      Demand(text.has_value() == demand.value("exists", true), fmt::format("file {} exists or not", name));
      if (!text) continue;
      if (demand.contains("size")) Demand(text->size() == demand["size"].get<std::size_t>(), name + ": size");
      if (demand.contains("min_size"))
        Demand(text->size() >= demand["min_size"].get<std::size_t>(), name + ": size");
      if (demand.contains("contains")) {
        Demand(text->find(demand["contains"].get<std::string>()) != std::string::npos, name + ": contents");
      }
    }
  }

  const Json& expected_;
  const CellRun& run_;
  std::uint32_t cell_;
  std::filesystem::path folder_;
  Value error_;
  Value value_;
  std::string problem_;
};

}  // namespace

std::string Mismatch(const Json& expected, const CellRun& run, std::uint32_t cell,
                     const std::filesystem::path& folder) {
  return Checker(expected, run, cell, folder).Check();
}

std::vector<Json> Alternatives(const Json& expected, const Json& accept_also) {
  std::vector<Json> all{expected};
  for (const Json& extra : accept_also) {
    Json merged = expected;
    for (const auto& [key, value] : extra.items()) merged[key] = value;
    const bool demands_error =
        extra.contains("error_type") ? !extra["error_type"].is_null() : extra.contains("error_type_any");
    const bool demands_success = extra.contains("error_type") && extra["error_type"].is_null();
    std::vector<std::string> dropped;
    for (const auto& [key, value] : merged.items()) {
      const bool of_success = key.starts_with("result") || key.starts_with("final_answer");
      const bool of_error = (key.starts_with("error_") || key == "traceback_contains") && key != "error_type";
      if (((demands_error && of_success) || (demands_success && of_error)) && !extra.contains(key)) {
        dropped.push_back(key);
      }
    }
    for (const std::string& key : dropped) merged.erase(key);
    all.push_back(std::move(merged));
  }
  return all;
}

}  // namespace gloveport::testing
