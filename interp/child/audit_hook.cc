#include "gloveport/interp/child/audit_hook.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "gloveport/interp/child/event_log.h"
#include "gloveport/interp/child/python_ref.h"
#include "gloveport/interp/child/session_state.h"

namespace gloveport::child {
namespace {

constexpr const char* kNoProcesses =
    "no program or process can be started in here; compute in Python, or in threads "
    "(concurrent.futures.ThreadPoolExecutor)";
constexpr const char* kNoNetwork =
    "there is no network in here; work with the files in the work folder and the tools that are offered";

struct Refusal {
  std::string_view event;
  const char* rule;
  const char* why;
};

constexpr std::array kRefusals = {
    Refusal{"os.exec", "process", kNoProcesses},
    Refusal{"os.fork", "process", kNoProcesses},
    Refusal{"os.forkpty", "process", kNoProcesses},
    Refusal{"os.posix_spawn", "process", kNoProcesses},
    Refusal{"os.spawn", "process", kNoProcesses},
    Refusal{"os.system", "process", kNoProcesses},
    Refusal{"pty.spawn", "process", kNoProcesses},
    Refusal{"subprocess.Popen", "process", kNoProcesses},
    Refusal{"ftplib.connect", "network", kNoNetwork},
    Refusal{"http.client.connect", "network", kNoNetwork},
    Refusal{"imaplib.open", "network", kNoNetwork},
    Refusal{"poplib.connect", "network", kNoNetwork},
    Refusal{"smtplib.connect", "network", kNoNetwork},
    Refusal{"socket.connect", "network", kNoNetwork},
    Refusal{"socket.getaddrinfo", "network", kNoNetwork},
    Refusal{"socket.gethostbyaddr", "network", kNoNetwork},
    Refusal{"socket.gethostbyname", "network", kNoNetwork},
    Refusal{"urllib.Request", "network", kNoNetwork},
};

std::vector<std::string>& RuntimeFolders() {
  static auto* folders = new std::vector<std::string>();
  return *folders;
}

int Refuse(const char* event, const char* rule, const char* why) {
  EventLog::Refused(rule, event, why);
  const PyRef error = PyRef::Steal(
      PyObject_CallFunction(PyExc_PermissionError, "is", EPERM, fmt::format("{} ({})", why, event).c_str()));
  if (error) PyErr_SetObject(PyExc_PermissionError, error.get());
  return -1;
}

// A socket between two threads is needed by asyncio; any other family leads outside.
int OnNewSocket(PyObject* args) {
  if (PyTuple_GET_SIZE(args) < 2) return 0;
  const long family = PyLong_AsLong(PyTuple_GET_ITEM(args, 1));
  if (family == -1 && PyErr_Occurred()) PyErr_Clear();
  return family == AF_INET || family == AF_INET6 ? Refuse("socket.socket", "network", kNoNetwork) : 0;
}

bool IsRuntimeFile(std::string_view path) {
  return std::any_of(RuntimeFolders().begin(), RuntimeFolders().end(),
                     [&](const std::string& folder) { return path.starts_with(folder); });
}

std::string PathOf(PyObject* path) {
  if (PyBytes_Check(path)) {
    return std::string(PyBytes_AS_STRING(path), static_cast<std::size_t>(PyBytes_GET_SIZE(path)));
  }
  return Utf8Of(path);
}

bool IsWrite(PyObject* mode, PyObject* flags) {
  if (PyUnicode_Check(mode) && Utf8Of(mode).find_first_of("wax+") != std::string::npos) return true;
  const long bits = PyLong_Check(flags) ? PyLong_AsLong(flags) : 0;
  if (bits == -1 && PyErr_Occurred()) return PyErr_Clear(), false;
  return (bits & O_ACCMODE) != O_RDONLY || (bits & (O_CREAT | O_TRUNC)) != 0;
}

// open(path, mode, flags); an opened descriptor has no path of its own.
int OnOpen(PyObject* args) {
  if (!State().cell_running.load(std::memory_order_relaxed) || PyTuple_GET_SIZE(args) != 3) return 0;
  PyObject* path_object = PyTuple_GET_ITEM(args, 0);
  if (PyLong_Check(path_object)) return 0;
  const std::string path = PathOf(path_object);
  if (path.empty() || IsRuntimeFile(path)) return 0;
  const bool write = IsWrite(PyTuple_GET_ITEM(args, 1), PyTuple_GET_ITEM(args, 2));
  // Looking for a file that is not there reads nothing.
  if (!write && ::access(path.c_str(), F_OK) != 0) return 0;
  EventLog::Opened(path, write);
  return 0;
}

// Called for every audited event of every thread: the common ones must leave at once.
int OnAudit(const char* event, PyObject* args, void*) {
  if (State().link == nullptr) return 0;
  const std::string_view name(event);
  if (name == "open") return args != nullptr ? OnOpen(args) : 0;
  switch (name.front()) {
    case 'f':
    case 'h':
    case 'i':
    case 'o':
    case 'p':
    case 's':
    case 'u':
      break;
    default:
      return 0;
  }
  if (name == "socket.__new__") return args != nullptr ? OnNewSocket(args) : 0;
  for (const Refusal& refusal : kRefusals) {
    if (refusal.event == name) return Refuse(event, refusal.rule, refusal.why);
  }
  return 0;
}

}  // namespace

Status InstallAuditHook() {
  if (PySys_AddAuditHook(OnAudit, nullptr) != 0)
    return Fail(ErrorCode::kInternal, "cannot install the audit hook");
  return {};
}

void SetRuntimeFolders(std::vector<std::string> folders) { RuntimeFolders() = std::move(folders); }

}  // namespace gloveport::child
