// TemplateProcess: the host's side of one warm template: started once, asked for sessions from any thread.
#ifndef GLOVEPORT_CORE_HOST_TEMPLATE_PROCESS_H_
#define GLOVEPORT_CORE_HOST_TEMPLATE_PROCESS_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/host/open_judge.h"
#include "gloveport/core/host/patience.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/host/spawner.h"
#include "gloveport/core/wire/channel.h"
#include "gloveport/core/wire/template_messages.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

struct TemplateOptions {
  Policy policy;
  bool inspector = false;
  Imports imports = Imports::kAhead;
  bool own_root = true;
  std::optional<std::uint32_t> hash_seed;  // of the interpreter; absent: random
  std::string workdir;                     // host folder; see TemplateStart
  bool scratch = false;  // the folder was made for this template: a root host gives it to the template's user
};

// What a fork hands to the host; the session confines itself meanwhile.
struct ForkedSession {
  pid_t pid_inside = 0;  // in the template's pid namespace
  pid_t pid = 0;         // in the host's
  UniqueFd pidfd;
  Channel channel;
  UniqueFd out;  // read ends
  UniqueFd err;
};

class TemplateProcess {
 public:
  // Waits until the template is warm. kConfinementUnavailable where a layer cannot be had.
  static Result<std::shared_ptr<TemplateProcess>> Start(Spawner& spawner,
                                                        const std::filesystem::path& program,
                                                        const TemplateOptions& options,
                                                        const Patience& patience);
  ~TemplateProcess();
  TemplateProcess(const TemplateProcess&) = delete;
  TemplateProcess& operator=(const TemplateProcess&) = delete;

  // Thread-safe. kClosed when the template has died. A template that does not answer, or answers nonsense, is
  // asked nothing any more: alive() is then false.
  Result<ForkedSession> Fork(std::optional<std::uint64_t> seed);

  // The wait status of a session whose pidfd reports its end. Each session must be reaped once. Thread-safe.
  Result<int> Reap(const ForkedSession& session);

  // Branches are children of the template too. One at a time: held while a session forks.
  std::unique_lock<std::mutex> HoldBranching() { return std::unique_lock(branching_mutex_); }
  bool IsChild(pid_t pid) const;
  void Adopt(pid_t pid);
  // Ends children that nobody asked for, which only a session that was allowed to fork can have made. Call it
  // while branching is held.
  void KillStrays();

  std::uint64_t anonymous_bytes() const { return anonymous_bytes_; }  // of the warm template
  bool alive() const;
  const TemplateOptions& options() const { return options_; }
  const std::vector<std::string>& missing_modules() const { return missing_; }
  bool landlock() const { return landlock_; }
  // Where the policy wants the kernel's evidence of what sessions open; else null.
  const std::shared_ptr<const OpenJudge>& open_judge() const { return open_judge_; }

 private:
  TemplateProcess() = default;
  Status Handshake(Deadline deadline);
  Result<std::pair<wire::TemplateReply, std::vector<UniqueFd>>> Ask(const std::string& packet,
                                                                    std::span<const int> fds);
  Result<std::pair<wire::TemplateReply, std::vector<UniqueFd>>> Exchange(const std::string& packet,
                                                                         std::span<const int> fds);
  Error WithDiagnostics(Error error);

  TemplateOptions options_;
  bool landlock_ = false;
  std::shared_ptr<const OpenJudge> open_judge_;
  Patience patience_;
  pid_t pid_ = -1;           // of the launcher: the host's child, which becomes or waits for the template
  pid_t template_pid_ = -1;  // of the template itself, as the host numbers it
  std::atomic<bool> broken_{false};  // question and answer would no longer belong together
  UniqueFd control_;
  UniqueFd diagnostics_;
  std::mutex mutex_;  // one question at a time on the control socket
  std::mutex branching_mutex_;
  std::mutex children_mutex_;  // before mutex_
  std::set<pid_t> children_;   // sessions and branches that are not reaped yet, as the host numbers them
  std::vector<std::string> missing_;
  std::uint64_t anonymous_bytes_ = 0;
  std::uint64_t data_bytes_ = 0;  // of the warm template: a session's limit is growth over it
  std::uint64_t address_space_bytes_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_TEMPLATE_PROCESS_H_
