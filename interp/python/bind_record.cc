#include <pybind11/stl.h>

#include <string>

#include "gloveport/core/record/audit_summary.h"
#include "gloveport/core/record/log_reader.h"
#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/python/bindings.h"
#include "gloveport/interp/python/values.h"

namespace gloveport::python {

void BindRecord(py::module_& module) {
  module.def("audit_check", [](const std::string& path) {
    const LogCheck check = Unwrap(Released([&] { return CheckLog(path); }), "checking an audit log", path);
    py::dict dict;
    dict["end"] = std::string(LogEndName(check.end));
    dict["records"] = check.records;
    dict["head"] = check.head;
    dict["problem"] = check.problem;
    dict["holds"] = check.holds();
    return dict;
  });
  // The way of every value that a session sends, for what no session of ours sends.
  module.def("value_from_cbor", [](const py::bytes& encoded) {
    return ToPython(Unwrap(DecodeValue(std::string_view(encoded)), "reading a value", ""));
  });
  module.def("audit_summary", [](const std::string& path) {
    const auto records = Unwrap(Released([&] { return ReadLog(path); }), "reading an audit log", path);
    return ToPython(ToJson(Summarize(records)));
  });
}

}  // namespace gloveport::python
