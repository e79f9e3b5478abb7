#include "gloveport/interp/child/import_guard.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "gloveport/interp/child/event_log.h"
#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/session_state.h"
#include "gloveport/interp/child/unwinder.h"

namespace gloveport::child {
namespace {

PyObject* g_import = nullptr;         // the original builtins.__import__
PyObject* g_import_module = nullptr;  // the original importlib.import_module

// Modules that are known by another name than their own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPublicNames = {{
    {"posixpath", "os.path"},
    {"ntpath", "os.path"},
    {"_collections_abc", "collections.abc"},
}};

Effect EffectOf(std::string_view module) {
  const Effect effect = State().policy->imports.EffectOf(module);
  return effect == Effect::kAsk && State().cell_approved ? Effect::kAllow : effect;
}

// Raises the ImportError for `module`. `wanted` are the names that were to be imported from it.
void Refuse(const std::string& module, Effect effect, PyObject* wanted) {
  PyObject* refuse = PythonFunction("imports", "refuse");
  if (refuse == nullptr) return;
  const PyRef none = PyRef::Steal(PyTuple_New(0));
  const PyRef name = PyText(module);
  const PyRef word = PyText(EffectName(effect));
  if (!none || !name || !word) return;
  const PyRef result = PyRef::Steal(PyObject_CallFunctionObjArgs(
      refuse, name.get(), word.get(), wanted != nullptr && PyTuple_Check(wanted) ? wanted : none.get(),
      nullptr));
  const PyRef error = TakeException();
  if (!error) return;
  const PyRef text = PyRef::Steal(PyObject_Str(error.get()));
  EventLog::Refused("import", module, Utf8Of(text.get()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
}

// `from a import b, c` is allowed where a is, and where a.b and a.c are.
bool AllMembersAllowed(const std::string& module, PyObject* wanted) {
  const Py_ssize_t count = wanted != nullptr && PyTuple_Check(wanted) ? PyTuple_GET_SIZE(wanted) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (EffectOf(module + "." + Utf8Of(PyTuple_GET_ITEM(wanted, i))) != Effect::kAllow) return false;
  }
  return count > 0;
}

bool MayImport(const std::string& module, PyObject* wanted) {
  const Effect effect = EffectOf(module);
  if (effect == Effect::kAllow) return true;
  if (AllMembersAllowed(module, wanted)) return true;
  Refuse(module, effect, wanted);
  return false;
}

// A module that the policy denies stays denied when an allowed one hands it on (`from random import _os`).
bool MayTakeMember(const std::string& module, PyObject* name, PyObject* imported) {
  const std::string member = module + "." + Utf8Of(name);
  if (const Effect effect = EffectOf(member); effect != Effect::kAllow)
    return Refuse(member, effect, nullptr), false;
  const PyRef value = PyRef::Steal(PyObject_GetAttr(imported, name));
  if (!value) return PyErr_Clear(), true;  // IMPORT_FROM will say what is wrong
  if (!PyModule_Check(value.get())) return true;
  const char* own_name = PyModule_GetName(value.get());
  if (own_name == nullptr) return PyErr_Clear(), true;
  std::string_view public_name = own_name;
  for (const auto& [private_name, known_as] : kPublicNames) {
    if (public_name == private_name) public_name = known_as;
  }
  if (member == public_name) return true;
  const Effect effect = EffectOf(public_name);
  if (effect != Effect::kAllow) Refuse(std::string(public_name), effect, nullptr);
  return effect == Effect::kAllow;
}

bool MayTakeMembers(const std::string& module, PyObject* wanted, PyObject* imported) {
  const Py_ssize_t count = wanted != nullptr && PyTuple_Check(wanted) ? PyTuple_GET_SIZE(wanted) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!MayTakeMember(module, PyTuple_GET_ITEM(wanted, i), imported)) return false;
  }
  return true;
}

// The argument that is number `position` or called `keyword`; borrowed, null where it is not given.
PyObject* Argument(PyObject* const* args, Py_ssize_t count, PyObject* names, Py_ssize_t position,
                   const char* keyword) {
  if (position < count) return args[position];
  const Py_ssize_t named = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), keyword) == 0) return args[count + i];
  }
  return nullptr;
}

// C code that imports (pickle, strptime) passes an empty list, which no import statement does. It runs under
// the frame of the cell that called it, but the import is the library's own.
bool IsImportByC(PyObject* wanted) {
  return wanted != nullptr && PyList_CheckExact(wanted) && PyList_GET_SIZE(wanted) == 0;
}

PyObject* GuardedImport(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (State().policy == nullptr || !Unwinder::CellIsCalling())
    return PyObject_Vectorcall(g_import, args, static_cast<std::size_t>(count), names);
  PyObject* name = Argument(args, count, names, 0, "name");
  PyObject* wanted = Argument(args, count, names, 3, "fromlist");
  PyObject* level = Argument(args, count, names, 4, "level");
  if (IsImportByC(wanted)) return PyObject_Vectorcall(g_import, args, static_cast<std::size_t>(count), names);
  const bool relative = level != nullptr && PyLong_Check(level) && PyLong_AsLong(level) != 0;
  const std::string module = Utf8Of(name);
  if (relative || module.empty())
    return PyObject_Vectorcall(g_import, args, static_cast<std::size_t>(count), names);
  const bool allowed = MayImport(module, wanted);
  EventLog::Imported(module, allowed);
  if (!allowed) return nullptr;
  PyRef imported = PyRef::Steal(PyObject_Vectorcall(g_import, args, static_cast<std::size_t>(count), names));
  if (imported && !MayTakeMembers(module, wanted, imported.get())) return nullptr;
  return imported.release();
}

PyObject* GuardedImportModule(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const std::string module = Utf8Of(Argument(args, count, names, 0, "name"));
  if (State().policy != nullptr && !module.empty() && module.front() != '.' && Unwinder::CellIsCalling()) {
    const bool allowed = MayImport(module, nullptr);
    EventLog::Imported(module, allowed);
    if (!allowed) return nullptr;
  }
  return PyObject_Vectorcall(g_import_module, args, static_cast<std::size_t>(count), names);
}

template <typename Function>
PyCFunction AsMethod(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef kImport = {
    "__import__", AsMethod(GuardedImport), METH_FASTCALL | METH_KEYWORDS,
    "Imports a module; import statements call this. Cells import the modules that the policy allows."};
PyMethodDef kImportModule = {"import_module", AsMethod(GuardedImportModule), METH_FASTCALL | METH_KEYWORDS,
                             "import_module($module, name, package=None)\n--\n\nImport a module."};

// Replaces module.name by a function of ours and keeps the original.
Status Replace(const char* module_name, PyMethodDef* method, PyObject*& original) {
  const PyRef module = PyRef::Steal(PyImport_ImportModule(module_name));
  if (!module) return FailPython("cannot guard imports");
  original = PyObject_GetAttrString(module.get(), method->ml_name);
  const PyRef name = PyText(module_name);
  const PyRef function = PyRef::Steal(PyCFunction_NewEx(method, nullptr, name.get()));
  if (original == nullptr || !function ||
      PyObject_SetAttrString(module.get(), method->ml_name, function.get()) != 0) {
    return FailPython("cannot guard imports");
  }
  return {};
}

}  // namespace

Status InstallImportGuard() {
  if (g_import != nullptr) return {};
  RETURN_IF_ERROR(Replace("builtins", &kImport, g_import));
  return Replace("importlib", &kImportModule, g_import_module);
}

}  // namespace gloveport::child
