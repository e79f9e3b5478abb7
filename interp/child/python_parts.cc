#include "gloveport/interp/child/python_parts.h"

#include <fmt/core.h>
#include <marshal.h>

#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace gloveport::child {
namespace {

constexpr char kBootstrap[] = "bootstrap";
constexpr std::string_view kForEditors = "introspect";
constexpr std::string_view kInspectorOnly = "inspector";  // and all whose names begin so

// The parts by name: bytes where their code can be run as it is, text where this Python is another than that
// of the build and has to compile it.
PyRef MakeParts() {
  const bool has_code = PyImport_GetMagicNumber() == PythonPartsMagic();
  PyRef parts = PyRef::Steal(PyDict_New());
  for (const PythonPart& part : PythonParts()) {
    const PyRef name = PyText(part.name);
    const PyRef content = has_code ? PyRef::Steal(PyMemoryView_FromMemory(const_cast<char*>(part.code.data()),
                                                                          std::ssize(part.code), PyBUF_READ))
                                   : PyText(part.source);
    if (!content || !name || !parts || PyDict_SetItem(parts.get(), name.get(), content.get()) != 0) return {};
  }
  return parts;
}

PyRef CodeOfBootstrap(PyObject* parts) {
  PyObject* part = PyDict_GetItemString(parts, kBootstrap);
  if (part == nullptr) return {};
  if (PyUnicode_Check(part))
    return PyRef::Steal(Py_CompileString(PyUnicode_AsUTF8(part), "<gloveport/bootstrap>", Py_file_input));
  const Py_buffer* bytes = PyMemoryView_GET_BUFFER(part);
  return PyRef::Steal(PyMarshal_ReadObjectFromString(static_cast<const char*>(bytes->buf), bytes->len));
}

// bootstrap.py makes the finder for all others; it is run here by hand.
Status RunBootstrap(PyObject* parts) {
  const PyRef code = CodeOfBootstrap(parts);
  if (!code) return FailPython("cannot read the bootstrap part");
  const PyRef globals = PyRef::Steal(PyDict_New());
  if (PyDict_SetItemString(globals.get(), "__builtins__", PyEval_GetBuiltins()) != 0 ||
      PyDict_SetItemString(globals.get(), "PARTS", parts) != 0) {
    return FailPython("cannot prepare the bootstrap part");
  }
  const PyRef result = PyRef::Steal(PyEval_EvalCode(code.get(), globals.get(), globals.get()));
  if (!result) return FailPython("cannot run the bootstrap part");
  return {};
}

}  // namespace

Status InstallPythonParts() {
  const PyRef parts = MakeParts();
  if (!parts) return FailPython("cannot prepare the Python parts");
  return RunBootstrap(parts.get());
}

Status ImportPythonParts() {
  for (const PythonPart& part : PythonParts()) {
    if (part.name == kBootstrap || part.name == kForEditors || part.name.starts_with(kInspectorOnly))
      continue;
    const std::string name = "_gloveport." + std::string(part.name);
    const PyRef module = PyRef::Steal(PyImport_ImportModule(name.c_str()));
    if (!module) return FailPython("cannot import " + name);
  }
  return {};
}

PyObject* PythonFunction(const char* part, const char* function) {
  // Keyed by the addresses of literals: a lookup costs no comparison of text. Guarded by the GIL.
  static auto* cache = new std::map<std::pair<const char*, const char*>, PyObject*>();
  const auto key = std::pair(part, function);
  if (const auto known = cache->find(key); known != cache->end()) return known->second;
  const PyRef module = PyRef::Steal(PyImport_ImportModule(("_gloveport." + std::string(part)).c_str()));
  if (!module) return nullptr;
  PyObject* found = PyObject_GetAttrString(module.get(), function);
  if (found != nullptr) cache->emplace(key, found);
  return found;
}

Status CallPart(const char* part, const char* function) {
  PyObject* found = PythonFunction(part, function);
  const PyRef done = found != nullptr ? PyRef::Steal(PyObject_CallNoArgs(found)) : PyRef();
  return done ? Status() : FailPython(fmt::format("cannot run {} of the Python part {}", function, part));
}

}  // namespace gloveport::child
