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
#include "gloveport/interp/child/unwinder.h"

namespace gloveport::child {
namespace {

constexpr const char* kNoProcesses =
    "no program or process can be started in here; compute in Python, or in threads "
    "(concurrent.futures.ThreadPoolExecutor)";
constexpr const char* kNoDynamicCode =
    "text is not run as code in here: write the code into the cell, where it is checked before it runs";
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

// What an open asks for, as flags of open(2): the mode of builtins.open or the flags of os.open.
long FlagsOf(PyObject* mode, PyObject* flags) {
  long bits = PyLong_Check(flags) ? PyLong_AsLong(flags) : 0;
  if (bits == -1 && PyErr_Occurred()) PyErr_Clear(), bits = 0;
  const std::string text = PyUnicode_Check(mode) ? Utf8Of(mode) : "";
  const bool both = text.find('+') != std::string::npos;
  if (both) bits |= O_RDWR;
  if (text.find_first_of("wax") != std::string::npos) bits |= (both ? O_RDWR : O_WRONLY) | O_CREAT;
  return bits;
}

// The kernel decides, and later; this is what it is going to say as far as one can see.
bool SeemsAllowed(const std::string& path, const EventLog::Open& open, long flags) {
  if (::access(path.c_str(), F_OK) == 0) {
    if (open.create && (flags & O_EXCL) != 0) return false;
    const bool read = (flags & O_ACCMODE) != O_WRONLY;
    return ::access(path.c_str(), (read ? R_OK : 0) | (open.write ? W_OK : 0)) == 0;
  }
  if (!open.create) return false;
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return ::access(folder.c_str(), W_OK | X_OK) == 0;
}

// open(path, mode, flags); an opened descriptor has no path of its own.
int OnOpen(PyObject* args) {
  if (!State().cell_running.load(std::memory_order_relaxed) || PyTuple_GET_SIZE(args) != 3) return 0;
  PyObject* path_object = PyTuple_GET_ITEM(args, 0);
  if (PyLong_Check(path_object)) return 0;
  const std::string path = PathOf(path_object);
  if (path.empty()) return 0;
  const long flags = FlagsOf(PyTuple_GET_ITEM(args, 1), PyTuple_GET_ITEM(args, 2));
  EventLog::Open open;
  open.path = path;
  open.write = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  open.create = (flags & O_CREAT) != 0;
  // Libraries read their own files, and look for some that are not there.
  if (!open.write && IsRuntimeFile(path)) return 0;
  open.allowed = SeemsAllowed(path, open, flags);
  EventLog::Opened(std::move(open));
  return 0;
}

// Text that a cell runs as code, by which name ever it came by the function. Libraries may: dataclasses and
// namedtuple are made so.
int OnDynamicCode(const char* event) {
  const SessionState& state = State();
  if (!state.cell_running.load(std::memory_order_relaxed) || state.policy == nullptr ||
      state.policy->inspection == Inspection::kOptional) {
    return 0;
  }
  const std::vector<std::string>& allowed = state.policy->builtins.allow;
  if (!allowed.empty() || !Unwinder::CellIsCalling()) return 0;
  return Refuse(event, "builtin", kNoDynamicCode);
}

// Called for every audited event of every thread: the common ones must leave at once.
int OnAudit(const char* event, PyObject* args, void*) {
  if (State().link == nullptr) return 0;
  const std::string_view name(event);
  if (name == "open") return args != nullptr ? OnOpen(args) : 0;
  switch (name.front()) {
    case 'c':
    case 'e':
      return name == "exec" || name == "compile" ? OnDynamicCode(event) : 0;
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
