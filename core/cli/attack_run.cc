#include "gloveport/core/cli/attack_run.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/attack_surroundings.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

// The next payload, shared by all workers.
class Turn {
 public:
  Turn()
      : next_(static_cast<std::atomic<std::size_t>*>(::mmap(nullptr, sizeof(std::atomic<std::size_t>),
                                                            PROT_READ | PROT_WRITE,
                                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    next_->store(0);
  }
  ~Turn() { ::munmap(next_, sizeof *next_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  std::size_t Take() { return next_->fetch_add(1); }
  bool Left(std::size_t count) const { return next_->load() < count; }

 private:
  std::atomic<std::size_t>* next_;
};

// ---- what a worker tells: one JSON object a line ----

void Tell(int pipe, const Json& message) {
  const std::string line = DumpJson(message) + "\n";
  (void)WriteFull(pipe, AsBytes(line), Deadline::Never());
}

Json ToJson(const AttackTrial& trial) {
  Json effects = Json::array();
  for (const std::string& effect : trial.effects) effects.push_back(ToValidUtf8(effect));
  return {{"id", trial.id},
          {"result", static_cast<int>(trial.result)},
          {"outcome", ToValidUtf8(trial.outcome)},
          {"effects", std::move(effects)},
          {"seconds", trial.seconds},
          {"cpu", trial.host_cpu_seconds},
          {"growth", trial.host_peak_growth}};
}

AttackTrial TrialFrom(const Json& json) {
  AttackTrial trial;
  trial.id = json.value("id", "");
  trial.result = static_cast<AttackResult>(json.value("result", static_cast<int>(AttackResult::kEscaped)));
  trial.outcome = json.value("outcome", "");
  trial.effects = json.value("effects", std::vector<std::string>());
  trial.seconds = json.value("seconds", 0.0);
  trial.host_cpu_seconds = json.value("cpu", 0.0);
  trial.host_peak_growth = json.value("growth", std::uint64_t{0});
  return trial;
}

Status Work(const std::vector<AttackPayload>& payloads, const AttackRunOptions& options, Turn& turn,
            int pipe) {
  ASSIGN_OR_RETURN(const auto surroundings, AttackSurroundings::Make());
  ASSIGN_OR_RETURN(const auto bench, AttackBench::Make(options.setting, options.time, *surroundings));
  for (std::size_t index = turn.Take(); index < payloads.size(); index = turn.Take()) {
    Tell(pipe, {{"begin", index}});
    Tell(pipe, {{"trial", ToJson(bench->Try(payloads[index]))}});
  }
  return {};
}

[[noreturn]] void BeWorker(const std::vector<AttackPayload>& payloads, const AttackRunOptions& options,
                           Turn& turn, int pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // Read by nothing here: a payload that finds it has found the host's environment.
  ::setenv(kCanaryVariable.data(), kCanaryValue.data(), 1);
  if (const Status worked = Work(payloads, options, turn, pipe); !worked) {
    Tell(pipe, {{"error",
                 {{"code", static_cast<int>(worked.error().code)},
                  {"message", worked.error().message},
                  {"hint", worked.error().hint}}}});
    ::_exit(1);
  }
  ::_exit(0);
}

// ---- the process that asks them ----

struct Worker {
  pid_t pid = -1;
  UniqueFd pipe;
  std::string pending;
  std::optional<std::size_t> busy_with;
};

class Crew {
 public:
  Crew(const std::vector<AttackPayload>& payloads, const AttackRunOptions& options)
      : payloads_(payloads), options_(options), trials_(payloads.size()) {}

  Result<std::vector<AttackTrial>> Run() {
    std::vector<Worker> workers(std::clamp<std::size_t>(options_.workers, 1, 16));
    for (Worker& worker : workers) RETURN_IF_ERROR(Start(worker));
    while (
        std::ranges::any_of(workers, [](const Worker& worker) { return static_cast<bool>(worker.pipe); })) {
      std::vector<pollfd> entries;
      for (const Worker& worker : workers) entries.push_back({worker.pipe.get(), POLLIN, 0});
      ::poll(entries.data(), entries.size(), -1);
      for (std::size_t i = 0; i < workers.size(); ++i) {
        if (entries[i].revents != 0) RETURN_IF_ERROR(Listen(workers[i]));
      }
    }
    if (error_) return tl::unexpected<Error>(*error_);
    std::vector<AttackTrial> done;
    for (auto& trial : trials_) {
      if (!trial) return Fail(ErrorCode::kInternal, "a payload was not run");
      done.push_back(std::move(*trial));
    }
    return done;
  }

 private:
  Status Start(Worker& worker) {
    ASSIGN_OR_RETURN(Pipe pipe, MakePipe());
    worker.pid = ::fork();
    if (worker.pid < 0) return FailErrno("cannot start a worker", errno);
    if (worker.pid == 0) BeWorker(payloads_, options_, turn_, pipe.write_end.get());
    worker.pipe = std::move(pipe.read_end);
    worker.pending.clear();
    return SetNonBlocking(worker.pipe.get());
  }

  Status Listen(Worker& worker) {
    auto more = ReadAvailable(worker.pipe.get(), 1u << 20, worker.pending);
    for (auto end = worker.pending.find('\n'); end != std::string::npos; end = worker.pending.find('\n')) {
      ASSIGN_OR_RETURN(const Json message, ParseJson(worker.pending.substr(0, end)));
      worker.pending.erase(0, end + 1);
      Take(worker, message);
    }
    return more && *more ? Status() : End(worker);
  }

  void Take(Worker& worker, const Json& message) {
    if (const auto error = message.find("error"); error != message.end()) {
      error_ = Error{static_cast<ErrorCode>(error->value("code", 0)), error->value("message", ""),
                     error->value("hint", "")};
    } else if (const auto begin = message.find("begin"); begin != message.end()) {
      worker.busy_with = begin->get<std::size_t>();
    } else if (const auto trial = message.find("trial"); trial != message.end() && worker.busy_with) {
      trials_.at(*worker.busy_with) = TrialFrom(*trial);
      worker.busy_with.reset();
    }
  }

  // A worker ends when nothing is left to do; one that was busy was ended by its payload, and another goes
  // on.
  Status End(Worker& worker) {
    int status = 0;
    ::waitpid(worker.pid, &status, 0);
    worker.pipe.reset();
    if (!worker.busy_with) return {};
    AttackTrial killed;
    killed.id = payloads_[*worker.busy_with].id;
    killed.result = AttackResult::kEscaped;
    killed.outcome = "host died";
    killed.effects = {WIFSIGNALED(status)
                          ? fmt::format("the host was ended by signal {}", WTERMSIG(status))
                          : fmt::format("the host ended with status {}", WEXITSTATUS(status))};
    trials_.at(*worker.busy_with) = std::move(killed);
    worker.busy_with.reset();
    return !error_ && turn_.Left(payloads_.size()) ? Start(worker) : Status();
  }

  const std::vector<AttackPayload>& payloads_;
  const AttackRunOptions& options_;
  Turn turn_;
  std::vector<std::optional<AttackTrial>> trials_;
  std::optional<Error> error_;
};

}  // namespace

std::size_t AttackReport::Count(AttackResult result) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(trials, [=](const AttackTrial& trial) { return trial.result == result; }));
}

Result<AttackReport> RunAttack(const std::vector<AttackPayload>& payloads, const AttackRunOptions& options) {
  std::vector<AttackPayload> here;
  std::ranges::copy_if(payloads, std::back_inserter(here), &RunsHere);
  if (here.empty()) return Fail(ErrorCode::kInvalidArgument, "there is no payload to run");
  ASSIGN_OR_RETURN(const auto canary, CanaryFile::Make());
  const auto start = std::chrono::steady_clock::now();
  AttackReport report;
  report.setting = options.setting;
  ASSIGN_OR_RETURN(report.trials, Crew(here, options).Run());
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.setting != AttackSetting::kInspected &&
      report.Count(AttackResult::kRefused) == report.trials.size())
    return Fail(ErrorCode::kInternal, "no payload was run, so nothing is proven");
  return report;
}

}  // namespace gloveport
