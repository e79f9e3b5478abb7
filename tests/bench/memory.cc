// What sessions hold: one that is idle, and a thousand.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "gloveport/tests/bench/figures.h"
#include "gloveport/tests/bench/process_memory.h"
#include "gloveport/tests/bench/python_server.h"
#include "gloveport/tests/bench/sessions.h"

namespace gloveport::bench {
namespace {

// Opens a session and says which process it is.
Result<pid_t> OpenAndFind(Runtime& runtime, Preloaded preloaded, std::unique_ptr<Session>& session) {
  const std::set<pid_t> before = ProcessesBelow(::getpid());
  ASSIGN_OR_RETURN(session, OpenSession(runtime, preloaded));
  RETURN_IF_ERROR(RunCell(*session, kTrivialCell));
  pid_t found = 0;
  for (const pid_t pid : ProcessesBelow(::getpid())) {
    if (before.contains(pid)) continue;
    if (found != 0) return Fail(ErrorCode::kInternal, "more than one process is new");
    found = pid;
  }
  if (found == 0) return Fail(ErrorCode::kInternal, "no process is new");
  return found;
}

Result<Measurement> IdleMemory(Preloaded preloaded, double aim_mb) {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(Mode::kUnpinned));
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, 0));
  ASSIGN_OR_RETURN(auto image, PythonServer::Image(placement, PolicyWith(preloaded)));
  { ASSIGN_OR_RETURN(const auto first, OpenSession(*runtime, preloaded)); }  // so that the template is there
  Samples ours;
  Samples bare;
  double tables_kib = 0;
  for (int i = 0; i < 10; ++i) {
    std::unique_ptr<Session> session;
    ASSIGN_OR_RETURN(const pid_t pid, OpenAndFind(*runtime, preloaded, session));
    ASSIGN_OR_RETURN(const PrivateMemory memory, PrivateMemoryOf(pid));
    ASSIGN_OR_RETURN(const Samples idle, image->Ask("idle", kTrivialCell));
    ASSIGN_OR_RETURN(const PrivateMemory yardstick, PrivateMemoryOf(static_cast<pid_t>(idle.Median())));
    RETURN_IF_ERROR(image->Ask("end"));
    ours.Add(memory.total_mib());
    bare.Add(yardstick.total_mib());
    tables_kib = memory.page_tables_kib;
  }
  const bool pandas = preloaded == Preloaded::kPandas;
  auto one = Measurement::Of(pandas ? "idle_private_memory_pandas" : "idle_private_memory", Mode::kUnpinned,
                             "MiB", ours, "bare fork of the same image that ran the same cell", bare);
  return one.Aim(fmt::format("<= {:g} MB", aim_mb), *one.value * 1.048576 <= aim_mb)
      .Note(fmt::format("after one cell; {:.0f} KiB of it are page tables", tables_kib));
}

Status RaiseDescriptorLimit(rlim_t wanted) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted) return {};
  return Fail(ErrorCode::kResourceExhausted,
              fmt::format("{} open files are allowed, {} are needed", limit.rlim_cur, wanted));
}

using Sessions = std::vector<std::unique_ptr<Session>>;

// Opens the sessions from two threads and runs a cell in each.
Result<Sessions> OpenMany(Runtime& runtime, std::size_t count) {
  std::mutex mutex;
  Sessions sessions;
  Status status;
  std::atomic<std::size_t> next{0};
  const auto open = [&] {
    while (next++ < count) {
      auto session = OpenSession(runtime, Preloaded::kPandas);
      const Status ran = session ? [&]() -> Status {
        RETURN_IF_ERROR(RunCell(**session, kTrivialCell));
        return {};
      }()
          : tl::unexpected<Error>(session.error());
      const std::lock_guard lock(mutex);
      if (!ran) status = ran;
      if (!status) return;
      sessions.push_back(std::move(*session));
    }
  };
  {
    const std::jthread other(open);
    open();
  }
  if (!status) return tl::unexpected<Error>(status.error());
  return sessions;
}

}  // namespace

Result<Measurements> MeasureIdleMemory() {
  ASSIGN_OR_RETURN(Measurement stdlib, IdleMemory(Preloaded::kStandardLibrary, 0.6));
  ASSIGN_OR_RETURN(Measurement pandas, IdleMemory(Preloaded::kPandas, 1.5));
  return Measurements{stdlib, pandas};
}

Result<Measurements> MeasureManySessions() {
  constexpr std::size_t kCount = 1000;
  RETURN_IF_ERROR(RaiseDescriptorLimit(kCount * 14));
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(Mode::kUnpinned));
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, 0));
  ASSIGN_OR_RETURN(auto image, PythonServer::Image(placement, PolicyWith(Preloaded::kPandas)));
  { ASSIGN_OR_RETURN(const auto first, OpenSession(*runtime, Preloaded::kPandas)); }
  RETURN_IF_ERROR(image->Ask("value 50", kTrivialCell));
  ASSIGN_OR_RETURN(const Samples bare, image->Ask("value 200", kTrivialCell));

  const double available = AvailableMemoryMib();
  const Stopwatch watch;
  ASSIGN_OR_RETURN(const Sessions sessions, OpenMany(*runtime, kCount));
  const double seconds = watch.Microseconds() / 1e6;
  const double held_gib = (available - AvailableMemoryMib()) / 1024;
  std::size_t answered = 0;
  for (const auto& session : sessions) {
    ASSIGN_OR_RETURN(const CellResult result, RunCell(*session, "x += 1\nx"));
    answered += result.value == Value(43) ? 1 : 0;
  }
  auto one = Measurement::Of("sessions_1000", Mode::kUnpinned, "s", Samples({seconds}),
                             "1000 forks of the same image that only run the cell, one after the other",
                             Samples({bare.Median() / 1e6 * kCount}));
  return Measurements{
      one.Aim("< 5 s, < 4 GiB, all answer", seconds < 5 && held_gib < 4 && answered == kCount)
          .Note(fmt::format(
              "with pandas, two threads open them; {:.2f} GiB less memory is available; {} answer", held_gib,
              answered))};
}

}  // namespace gloveport::bench
