#include "gloveport/interp/child/branch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include "gloveport/interp/child/python_parts.h"
#include "gloveport/policy/syscall_filter.h"

namespace gloveport::child {
namespace {

// glibc's fork renews a thread's number in its descriptor; a bare clone does not, and glibc has no other that
// could make a child of the parent's parent. Far below the size of the descriptor.
constexpr std::size_t kSearched = 1024;
std::size_t g_number_at = 0;  // 0: unknown

char* ThreadDescriptor() { return reinterpret_cast<char*>(::pthread_self()); }

std::vector<std::size_t> PlacesOfOwnNumber() {
  const pid_t number = ::gettid();
  std::vector<std::size_t> places;
  for (std::size_t at = sizeof(pid_t); at < kSearched; at += sizeof(pid_t)) {
    if (std::memcmp(ThreadDescriptor() + at, &number, sizeof number) == 0) places.push_back(at);
  }
  return places;
}

long CloneSelf() {
  char* number = ThreadDescriptor() + g_number_at;
#if defined(__aarch64__)
  return ::syscall(__NR_clone, BranchCloneFlags(), nullptr, nullptr, nullptr, number);
#else
  return ::syscall(__NR_clone, BranchCloneFlags(), nullptr, nullptr, number, nullptr);
#endif
}

int FirstDescriptor() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return -1;
  return static_cast<int>(files.rlim_cur) - wire::kBranchDescriptors;
}

void CloseFrom(int first) {
  for (int fd = first; fd < first + wire::kBranchDescriptors; ++fd) ::close(fd);
}

Status TakeEnds(HostLink& link, int first) {
  std::array<UniqueFd, wire::kBranchDescriptors> ends;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    // Away from the agreed numbers, which the next branch needs.
    ends[i].reset(::fcntl(first + static_cast<int>(i), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!ends[i]) return FailErrno("fcntl(F_DUPFD_CLOEXEC)", errno);
  }
  CloseFrom(first);
  if (::dup2(ends[1].get(), STDOUT_FILENO) < 0 || ::dup2(ends[2].get(), STDERR_FILENO) < 0)
    return FailErrno("dup2", errno);
  Channel channel(std::move(ends[0]));
  ASSIGN_OR_RETURN(RingMemory memory, RingMemory::Map(ends[3].get()));
  channel.Attach(RingEnd::ForSession(std::move(memory), std::move(ends[4]), std::move(ends[5])));
  return link.Replace(std::move(channel));
}

Status BecomeCopy(HostLink& link, int first) {
  // Held for the host, which learns by it who the copy is.
  if (::kill(::getpid(), 0) != 0) return FailErrno("kill(self, 0)", errno);
  RETURN_IF_ERROR(TakeEnds(link, first));
  PyObject* abandon = PythonFunction("loop", "abandon");
  const PyRef done = abandon != nullptr ? PyRef::Steal(PyObject_CallNoArgs(abandon)) : PyRef();
  return done ? Status() : FailPython("cannot renew the event loop");
}

// Empty where nothing stands against it.
std::string Obstacle() {
  if (g_number_at == 0) return "this C library keeps thread numbers in a place that is not known";
  PyObject* function = PythonFunction("loop", "obstacle");
  const PyRef text = function != nullptr ? PyRef::Steal(PyObject_CallNoArgs(function)) : PyRef();
  if (text) return Utf8Of(text.get());
  PyErr_Clear();
  return "its event loop cannot be asked";
}

wire::Reply Refusal(std::uint64_t request, std::string reason) {
  return {.id = request,
          .ok = false,
          .value = "\xf6",
          .error_type = "RuntimeError",
          .error_message = std::move(reason)};
}

}  // namespace

void LearnThreadNumbers() {
  const std::vector<std::size_t> here = PlacesOfOwnNumber();
  std::vector<std::size_t> there;
  std::thread([&] { there = PlacesOfOwnNumber(); }).join();
  std::vector<std::size_t> common;
  std::ranges::set_intersection(here, there, std::back_inserter(common));
  g_number_at = common.size() == 1 ? common.front() : 0;
}

wire::Reply ForkSession(HostLink& link, const wire::Request& request) {
  if (std::string obstacle = Obstacle(); !obstacle.empty()) return Refusal(request.id, std::move(obstacle));
  const int first = FirstDescriptor();
  const long pid = CloneSelf();
  const int error = errno;
  // Neither a template nor a session runs destructors, and a copy that failed must not go on as its original.
  if (pid == 0 && !BecomeCopy(link, first)) ::_exit(1);
  if (pid > 0) CloseFrom(first);
  if (pid < 0) return Refusal(request.id, fmt::format("it could not fork: {}", std::strerror(error)));
  return {.id = request.id, .ok = true, .value = "\xf6"};
}

}  // namespace gloveport::child
