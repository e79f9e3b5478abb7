#include "gloveport/interp/python/results.h"

#include <chrono>

#include "gloveport/core/agent/evidence.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/host/result_json.h"
#include "gloveport/interp/python/values.h"

namespace gloveport::python {
namespace {

// All of a result but what is put in as Python objects: JSON would copy large values, and lose their types.
CellResult WithoutValues(const CellResult& result) {
  CellResult rest;
  rest.cell = result.cell;
  rest.outcome = result.outcome;
  rest.state = result.state;
  rest.repr = result.repr;
  rest.type = result.type;
  rest.out = result.out;
  rest.err = result.err;
  rest.truncated_out_bytes = result.truncated_out_bytes;
  rest.truncated_err_bytes = result.truncated_err_bytes;
  rest.error = result.error;
  rest.verdict = result.verdict;
  rest.limit = result.limit;
  rest.usage = result.usage;
  return rest;
}

}  // namespace

py::dict ToolCallDict(const ToolCallRecord& record) {
  py::dict call;
  call["name"] = record.name;
  call["args"] = ToPythonOrForeign(record.args);
  call["ok"] = record.ok;
  call["value"] = record.ok ? ToPythonOrForeign(record.result) : py::none();
  call["error"] = record.ok ? py::object(py::none()) : py::str(ToValidUtf8(record.error));
  call["error_type"] = record.error_type;
  call["duration_s"] = std::chrono::duration<double>(record.duration).count();
  return call;
}

py::dict ResultDict(const CellResult& result) {
  py::dict dict = ToPython(ToJson(WithoutValues(result)));
  dict["value"] = ToPythonOrForeign(result.value);
  dict["refusal_reason"] = result.refusal_reason;
  if (result.final_answer) {
    py::dict answer;
    answer["value"] = ToPythonOrForeign(result.final_answer->value);
    answer["repr"] = ToValidUtf8(result.final_answer->repr);
    answer["explanation"] = ToValidUtf8(result.final_answer->explanation);
    dict["final_answer"] = answer;
  }
  py::list displays;
  for (const Value& display : result.displays) displays.append(ToPythonOrForeign(display));
  dict["displays"] = displays;
  py::list calls;
  for (const ToolCallRecord& record : result.tool_calls) calls.append(ToolCallDict(record));
  dict["tool_calls"] = calls;
  return dict;
}

py::dict AgentResultDict(const AgentResult& result) {
  py::dict dict = ToPython(ToJson(result));
  dict["answer"] = result.answer ? ToPythonOrForeign(*result.answer) : py::none();
  dict["evidence_text"] = EvidenceText(result);
  return dict;
}

}  // namespace gloveport::python
