#include "gloveport/interp/python/values.h"

#include <string>
#include <string_view>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/value_decoder.h"
#include "gloveport/interp/child/value_encoder.h"
#include "gloveport/interp/python/errors.h"

namespace gloveport::child {

// Where encoder and decoder find codec.to_form and codec.from_form in this process: not in embedded parts,
// but in the package.
PyObject* PythonFunction(const char* /*part*/, const char* function) {
  const PyRef module = PyRef::Steal(PyImport_ImportModule("gloveport._values"));
  PyObject* found = module ? PyObject_GetAttrString(module.get(), function) : nullptr;
  Py_XDECREF(found);  // the module keeps it
  return found;
}

}  // namespace gloveport::child

namespace gloveport::python {
namespace {

// The encoder's own error, with the direction that this side has.
[[noreturn]] void ThrowEncodeError() {
  constexpr std::string_view kTheirs = "cannot cross to the host";
  const child::PyRef exception = child::TakeException();
  const child::PyRef text = child::PyRef::Steal(PyObject_Str(exception.get()));
  std::string message = child::Utf8Of(text.get());
  const auto place = message.find(kTheirs);
  if (place == std::string::npos) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.get())), exception.get());
  } else {
    message.replace(place, kTheirs.size(), "cannot cross to the session");
    PyErr_SetString(reinterpret_cast<PyObject*>(Py_TYPE(exception.get())), message.c_str());
  }
  throw py::error_already_set();
}

// The forms that the decoder makes without asking the package have the payload that they should: a tuple of a
// range of 10^12 would be made item by item. A value has a limited depth.
Status CheckPayloads(const Value& value) {
  if (value.is_list()) {
    for (const Value& item : value.as_list()) RETURN_IF_ERROR(CheckPayloads(item));
  } else if (value.is_map()) {
    for (const auto& [key, item] : value.as_map()) {
      RETURN_IF_ERROR(CheckPayloads(key));
      RETURN_IF_ERROR(CheckPayloads(item));
    }
  } else if (value.is_extended()) {
    const bool listed = value.is(Form::kTuple) || value.is(Form::kSet) || value.is(Form::kFrozenset);
    if (listed && !value.payload().is_list()) {
      return Fail(ErrorCode::kProtocol, std::string(value.TypeName()) + " of something that is no list");
    }
    return CheckPayloads(value.payload());
  }
  return {};
}

Value Encoded(py::handle object, child::Fidelity fidelity) {
  CborWriter writer;
  if (!child::EncodeObject(object.ptr(), writer, fidelity)) ThrowEncodeError();
  return Unwrap(DecodeValue(writer.str()), "reading what Python wrote");
}

}  // namespace

py::object ToPython(const Value& value) {
  Unwrap(CheckPayloads(value), "reading a value of a session");
  child::PyRef object = child::DecodeObject(EncodeValue(value));
  if (!object) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object.release());
}

py::object ToPythonOrForeign(const Value& value) {
  try {
    return ToPython(value);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    const py::object foreign = py::module_::import("gloveport._values").attr("Foreign");
    const std::string type(value.TypeName());
    if (!error.matches(PyExc_ImportError)) return foreign(type, py::str(error.value()));
    return foreign(type, py::str("<a {} of the session; this Python cannot make one: {}>")
                             .format(type, py::str(error.value())));
  }
}

py::object ToPython(const Json& json) { return ToPython(FromPlainJson(json)); }

Value FromPython(py::handle object) { return Encoded(object, child::Fidelity::kExact); }
Value FromPythonShown(py::handle object) { return Encoded(object, child::Fidelity::kShown); }

}  // namespace gloveport::python
