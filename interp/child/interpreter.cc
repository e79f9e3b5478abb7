#include "gloveport/interp/child/interpreter.h"

#include <fmt/core.h>
#include <pybind11/embed.h>

#include <stdexcept>

#include "gloveport/interp/child/audit_hook.h"
#include "gloveport/interp/child/cell_runner.h"
#include "gloveport/interp/child/cell_stop.h"
#include "gloveport/interp/child/native_module.h"
#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/python_ref.h"
#include "gloveport/interp/child/repeatable.h"
#include "gloveport/interp/child/session_state.h"

namespace gloveport {
namespace {

using child::FailPython;
using child::PyRef;
using child::PythonFunction;

std::vector<std::string>& MissingModules() {
  static auto* missing = new std::vector<std::string>();
  return *missing;
}

Status Check(PyStatus status, std::string_view what) {
  if (!PyStatus_Exception(status)) return {};
  return Fail(
      ErrorCode::kInternal,
      fmt::format("{}: {}", what, status.err_msg != nullptr ? status.err_msg : "CPython gave no reason"));
}

Status PreInitialize() {
  PyPreConfig config;
  PyPreConfig_InitIsolatedConfig(&config);
  config.utf8_mode = 1;
  return Check(Py_PreInitialize(&config), "cannot pre-initialize Python");
}

// One assignment of a text to a field of PyConfig; the first failure sticks.
class ConfigWriter {
 public:
  explicit ConfigWriter(PyConfig& config) : config_(config) {}
  ConfigWriter& Set(wchar_t*& field, const char* text) {
    if (status_)
      status_ = Check(PyConfig_SetBytesString(&config_, &field, text), "cannot set a path of Python");
    return *this;
  }
  ConfigWriter& AppendSearchPath(const std::string& path) {
    wchar_t* wide = Py_DecodeLocale(path.c_str(), nullptr);
    if (status_ && wide == nullptr) status_ = Fail(ErrorCode::kInternal, "cannot decode the path " + path);
    if (status_) {
      status_ =
          Check(PyWideStringList_Append(&config_.module_search_paths, wide), "cannot set the search path");
    }
    PyMem_RawFree(wide);
    return *this;
  }
  const Status& status() const { return status_; }

 private:
  PyConfig& config_;
  Status status_;
};

Status FillConfig(PyConfig& config, const InterpreterConfig& wanted) {
  PyConfig_InitIsolatedConfig(&config);
  config.site_import = 0;
  config.user_site_directory = 0;
  config.safe_path = 1;
  config.write_bytecode = 0;
  config.parse_argv = 0;
  config.install_signal_handlers = 0;
  config.faulthandler = 0;
  config.pathconfig_warnings = 0;
  config.configure_c_stdio = 0;
  config.module_search_paths_set = 1;
  config.use_hash_seed = wanted.hash_seed ? 1 : 0;
  config.hash_seed = wanted.hash_seed.value_or(0);
  ConfigWriter writer(config);
  // All of them: whatever is left out is derived from a PATH, and leaks it.
  writer.Set(config.executable, GLOVEPORT_PYTHON_EXECUTABLE)
      .Set(config.base_executable, GLOVEPORT_PYTHON_EXECUTABLE)
      .Set(config.program_name, GLOVEPORT_PYTHON_EXECUTABLE)
      .Set(config.prefix, GLOVEPORT_PYTHON_PREFIX)
      .Set(config.base_prefix, GLOVEPORT_PYTHON_PREFIX)
      .Set(config.exec_prefix, GLOVEPORT_PYTHON_PREFIX)
      .Set(config.base_exec_prefix, GLOVEPORT_PYTHON_PREFIX)
      .Set(config.platlibdir, GLOVEPORT_PYTHON_PLATLIBDIR)
      .Set(config.stdio_encoding, "utf-8")
      .Set(config.stdio_errors, "backslashreplace")
      .AppendSearchPath(GLOVEPORT_PYTHON_STDLIB)
      .AppendSearchPath(GLOVEPORT_PYTHON_DYNLOAD)
      .AppendSearchPath(GLOVEPORT_PYTHON_PACKAGES);
  for (const std::string& folder : wanted.packages) writer.AppendSearchPath(folder);
  return writer.status();
}

Status SetSysAttributes() {
  for (const char* name : {"argv", "orig_argv"}) {
    const PyRef list = PyRef::Steal(Py_BuildValue("[s]", "gloveport"));
    if (!list || PySys_SetObject(name, list.get()) != 0) return FailPython("cannot set sys.argv");
  }
  // Left empty because the search path was given; the files of frozen modules are named after it.
  const PyRef stdlib = child::PyText(GLOVEPORT_PYTHON_STDLIB);
  if (!stdlib || PySys_SetObject("_stdlib_dir", stdlib.get()) != 0)
    return FailPython("cannot set sys._stdlib_dir");
  return {};
}

Status StartAfresh(std::optional<std::uint64_t> seed) {
  PyObject* start = PythonFunction("warmup", "start_afresh");
  if (start == nullptr) return FailPython("cannot renew what a fork must not share");
  const PyRef value = seed ? PyRef::Steal(PyLong_FromUnsignedLongLong(*seed)) : PyRef::Borrow(Py_None);
  const PyRef done = PyRef::Steal(PyObject_CallFunctionObjArgs(start, value.get(), nullptr));
  return done ? Status() : FailPython("cannot renew what a fork must not share");
}

// Whether a fork has to run CPython's own hooks. They renew locks and thread states that another thread might
// have held: a template has no other thread, so nothing of it needs renewal, and they change a hundred pages.
// What modules of the standard library do besides, start_afresh does. Others may have registered anything.
bool g_fork_hooks = true;

Status LearnForkHooks() {
  // Later versions may keep more in them: tried up to this one.
  if (PY_VERSION_HEX >= 0x030E0000) return {};
  PyObject* foreign = PythonFunction("warmup", "foreign_fork_hooks");
  if (foreign == nullptr) return FailPython("cannot ask for fork hooks");
  g_fork_hooks = PyList_Check(foreign) == 0 || PyList_GET_SIZE(foreign) > 0;
  return {};
}

Status FindMain() {
  PyObject* main = PyImport_AddModule("__main__");
  if (main == nullptr) return FailPython("there is no __main__");
  child::State().main_namespace = PyModule_GetDict(main);
  return {};
}

}  // namespace

Status Interpreter::Start(const InterpreterConfig& config) {
  RETURN_IF_ERROR(child::InstallAuditHook());
  std::vector<std::string> folders = {GLOVEPORT_PYTHON_STDLIB "/", GLOVEPORT_PYTHON_PACKAGES "/", "/usr/lib/",
                                      "/usr/share/"};
  for (const std::string& folder : config.packages) folders.push_back(folder + "/");
  child::SetRuntimeFolders(std::move(folders));
  if (PyImport_AppendInittab("_gloveport_native", &child::MakeNativeModule) != 0) {
    return Fail(ErrorCode::kInternal, "cannot register the native module");
  }
  RETURN_IF_ERROR(PreInitialize());
  PyConfig python;
  Status filled = FillConfig(python, config);
  if (!filled) {
    PyConfig_Clear(&python);
    return filled;
  }
  try {
    pybind11::initialize_interpreter(&python, 0, nullptr, /*add_program_dir_to_path=*/false);
  } catch (const std::runtime_error& error) {
    return Fail(
        ErrorCode::kInternal, fmt::format("cannot start Python: {}", error.what()),
        "check that the Python that Gloveport was built with is still installed: " GLOVEPORT_PYTHON_STDLIB);
  }
  RETURN_IF_ERROR(SetSysAttributes());
  RETURN_IF_ERROR(child::CellStop::Install());
  const bool for_cells = config.warm_up != WarmUp::kInspector;
  RETURN_IF_ERROR(child::InstallPythonParts());
  RETURN_IF_ERROR(child::CallPart("imports", "install"));
  if (for_cells) RETURN_IF_ERROR(child::ImportPythonParts());
  if (for_cells) RETURN_IF_ERROR(child::CallPart("sources", "install"));
  return FindMain();
}

Status Interpreter::Preload(const std::vector<std::string>& modules, WarmUp warm_up) {
  PyObject* import_modules = PythonFunction("warmup", "import_modules");
  if (import_modules == nullptr) return FailPython("cannot warm up");
  const PyRef names = PyRef::Steal(PyList_New(0));
  for (const std::string& module : modules) {
    const PyRef name = child::PyText(module);
    if (!name || PyList_Append(names.get(), name.get()) != 0) return FailPython("cannot warm up");
  }
  const PyRef missing = PyRef::Steal(PyObject_CallFunction(
      import_modules, "OOO", names.get(), warm_up == WarmUp::kAhead ? Py_True : Py_False,
      warm_up == WarmUp::kOnDemand ? Py_False : Py_True));
  if (!missing) return FailPython("cannot warm up");
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(missing.get()); ++i) {
    MissingModules().push_back(child::Utf8Of(PyList_GET_ITEM(missing.get(), i)));
  }
  RETURN_IF_ERROR(LearnForkHooks());
  RETURN_IF_ERROR(StartAfresh(std::nullopt));  // what it looks up is then there in every session
  if (warm_up != WarmUp::kAhead) return {};
  // A throw-away cell fills the caches that a first cell would otherwise fill in every session anew.
  child::RunCell(
      {0, "def _f(x):\n    return [x for x in range(3)]\nclass _C:\n    pass\n_f(1), {'a': 1.5}, 'x'\n"});
  child::RunCell({1, "1 / 0\n"});
  return child::CallPart("warmup", "clean_up");
}

const std::vector<std::string>& Interpreter::Missing() { return MissingModules(); }

void Interpreter::Freeze() {
  PyGC_Collect();
  const PyRef gc = PyRef::Steal(PyImport_ImportModule("gc"));
  const PyRef done = gc ? child::CallMethod(gc.get(), "freeze") : PyRef();
  if (!done) PyErr_Clear();
}

Status Interpreter::AfterFork(std::optional<std::uint64_t> seed) {
  if (seed) child::SeedRandomNumbers(*seed);
  if (g_fork_hooks) {
    // What is due before a fork can as well be done here, in a process of one thread that nobody has used
    // yet: it takes the locks that CPython and its modules release afterwards.
    PyOS_BeforeFork();
    PyOS_AfterFork_Child();
  }
  return StartAfresh(seed);
}

}  // namespace gloveport
