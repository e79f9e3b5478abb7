#include "gloveport/interp/child/python_parts.h"

#include <map>
#include <string>
#include <utility>

namespace gloveport::child {
namespace {

constexpr char kBootstrap[] = "bootstrap";
constexpr std::string_view kInspectorOnly = "inspector";  // and all whose names begin so

PyRef MakeSources() {
  PyRef sources = PyRef::Steal(PyDict_New());
  for (const PythonPart& part : PythonParts()) {
    const PyRef text = PyText(part.source);
    const PyRef name = PyText(part.name);
    if (!text || !name || PyDict_SetItem(sources.get(), name.get(), text.get()) != 0) return {};
  }
  return sources;
}

// bootstrap.py makes the finder for all others; it is run here by hand.
Status RunBootstrap(PyObject* sources) {
  PyObject* source = PyDict_GetItemString(sources, kBootstrap);
  const PyRef code = PyRef::Steal(Py_CompileString(source != nullptr ? PyUnicode_AsUTF8(source) : "",
                                                   "<gloveport/bootstrap>", Py_file_input));
  if (!code) return FailPython("cannot compile the bootstrap part");
  const PyRef globals = PyRef::Steal(PyDict_New());
  if (PyDict_SetItemString(globals.get(), "__builtins__", PyEval_GetBuiltins()) != 0 ||
      PyDict_SetItemString(globals.get(), "SOURCES", sources) != 0) {
    return FailPython("cannot prepare the bootstrap part");
  }
  const PyRef result = PyRef::Steal(PyEval_EvalCode(code.get(), globals.get(), globals.get()));
  if (!result) return FailPython("cannot run the bootstrap part");
  return {};
}

}  // namespace

Status InstallPythonParts() {
  const PyRef sources = MakeSources();
  if (!sources) return FailPython("cannot prepare the Python parts");
  RETURN_IF_ERROR(RunBootstrap(sources.get()));
  for (const PythonPart& part : PythonParts()) {
    if (part.name == kBootstrap || part.name.starts_with(kInspectorOnly)) continue;
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

}  // namespace gloveport::child
