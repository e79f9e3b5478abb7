// SessionImpl: a Session over a SessionProcess that is replaced when it is lost.
#ifndef GLOVEPORT_CORE_HOST_SESSION_IMPL_H_
#define GLOVEPORT_CORE_HOST_SESSION_IMPL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/host/approval_desk.h"
#include "gloveport/core/host/async_runs.h"
#include "gloveport/core/host/call_limits.h"
#include "gloveport/core/host/cell_run.h"
#include "gloveport/core/host/disk_watch.h"
#include "gloveport/core/host/inspector.h"
#include "gloveport/core/host/run_threads.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/host/scratch_folder.h"
#include "gloveport/core/host/session.h"
#include "gloveport/core/host/session_family.h"
#include "gloveport/core/host/session_pool.h"
#include "gloveport/core/host/session_process.h"
#include "gloveport/core/host/session_timer.h"
#include "gloveport/core/host/tool_dispatcher.h"
#include "gloveport/policy/tool_rules.h"

namespace gloveport {

// What the runtime gives each session that it admits.
struct SessionPlace {
  std::string id;
  std::function<void()> release;  // called once, when the session is closed or goes
};

// What sessions borrow from the runtime, which outlives them.
struct SessionSurroundings {
  SessionPool& pool;
  Inspector& inspector;
  std::function<Result<SessionPlace>()> admit;  // kResourceExhausted where the runtime is full
  std::shared_ptr<EventSink> record;            // of the runtime; may be null
  RunThreads& threads;
  SessionTimer& timer;
};

class SessionImpl : public Session {
 public:
  static Result<std::unique_ptr<Session>> Open(SessionOptions options,
                                               const SessionSurroundings& surroundings);
  ~SessionImpl() override;

  const std::string& id() const override { return place_.id; }
  const Policy& policy() const override { return options_.policy; }
  const std::vector<LayerStatus>& layers() const override { return layers_; }
  Result<CellResult> Run(std::string_view code, const RunOptions& options) override;
  void RunAsync(std::string code, RunOptions options, std::function<void(Result<CellResult>)> done) override;
  Status Interrupt() override;
  Status SetVariable(std::string_view name, const Value& value) override;
  Result<Value> GetVariable(std::string_view name) override;
  Result<Completions> Complete(std::string_view code, std::optional<std::size_t> cursor) override;
  Result<NameInfo> Inspect(std::string_view code, std::optional<std::size_t> cursor) override;
  Result<CodeState> IsComplete(std::string_view code) override;
  Status PutFile(std::string_view path, std::span<const std::byte> data) override;
  Result<std::vector<std::byte>> GetFile(std::string_view path) override;
  Result<std::vector<FileInfo>> ListFiles() override;
  Status RemoveFile(std::string_view path) override;
  Result<std::string> Checkpoint() override;
  Status Rollback(std::string_view checkpoint) override;
  Status Forget(std::string_view checkpoint) override;
  Result<std::vector<std::unique_ptr<Session>>> Branch(
      std::size_t count, const std::function<BranchOptions(std::size_t)>& options) override;
  std::vector<Grant> Grants() const override { return desk_->grants(); }
  Status RevokeGrant(std::string_view covers) override { return desk_->Revoke(covers); }
  void Close() override;

 private:
  SessionImpl(SessionPlace place, SessionOptions options, const SessionSurroundings& surroundings);
  static Result<std::unique_ptr<SessionImpl>> Make(SessionOptions options,
                                                   const SessionSurroundings& surroundings);

  // Held over every call that uses the process: one at a time, and none is idle time.
  class InUse {
   public:
    explicit InUse(SessionImpl& session) : session_(session), lock_(session.run_mutex_) {}
    ~InUse() { session_.last_used_ = Deadline::Clock::now(); }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    SessionImpl& session_;
    const std::lock_guard<std::mutex> lock_;
  };

  enum class ClosedBy { kNobody, kCaller, kIdleTimeout, kTimeToLive };

  struct KeptCopy {
    std::string name;
    std::unique_ptr<SessionProcess> process;
  };

  // All of these with run_mutex_ held.
  Status Prepare();
  Status StartProcess();
  Result<std::unique_ptr<SessionProcess>> FindProcess();
  Result<std::unique_ptr<SessionProcess>> StartPrivate(const TemplateOptions& options);
  Status DefineTools();
  std::vector<const ToolSpec*> VisibleTools() const;
  Status TellOfProcess();
  SessionFacts Facts() const;
  void TellOfFiles();
  Result<wire::Reply> AskSession(const std::string& operation, const Value& args);
  Result<wire::Reply> AskSession(const std::string& operation, const Value& args,
                                 std::chrono::milliseconds patience);
  Result<wire::Reply> KeepProcessIfAnswered(const std::string& operation, Result<wire::Reply> reply);
  Result<Value> AskAboutCode(const std::string& operation, std::string_view code,
                             std::optional<std::size_t> cursor);
  Status CheckRunnable(std::string_view code, const RunOptions& options) const;
  Result<CellResult> JudgeAndRun(std::uint32_t cell, std::string code, const RunOptions& options);
  Result<Verdict> Judge(std::uint32_t cell, std::string_view code);
  Verdict AskHookAboutCell(std::string_view code, Verdict verdict) const;
  ApprovalDecision AskForCell(std::uint32_t cell, const std::string& code, const Verdict& verdict);
  CellResult Denied(std::uint32_t cell, Verdict verdict, std::string_view reason);
  CellResult RunInProcess(std::uint32_t cell, std::string_view code, const RunOptions& options,
                          Approved approved);
  std::optional<std::uint64_t> Seed() const;
  void SetProcess(std::unique_ptr<SessionProcess> process);
  void DropProcess();
  Result<std::unique_ptr<SessionProcess>> CopyOf(SessionProcess& process);
  Result<std::unique_ptr<SessionProcess>> CopyWithinLimits(SessionProcess& process);
  Result<std::unique_ptr<SessionProcess>> CopyBeforeCell();
  Result<std::unique_ptr<Session>> MakeBranch(SessionOptions options);
  Result<std::size_t> FindCheckpoint(std::string_view name) const;
  void DropCheckpoint(std::size_t at);
  void LetGo();
  void LetGoLater();

  bool closed() const { return closed_by_.load() != ClosedBy::kNobody; }
  Error ClosedError() const;
  bool CloseFor(ClosedBy reason);
  Status StartTimer();
  Deadline CheckTime();
  std::optional<Deadline> CloseIfIdle();
  Deadline LetGoIfUnused();

  const SessionPlace place_;
  const SessionOptions options_;
  const SessionSurroundings& surroundings_;
  ToolGate gate_;
  std::vector<LayerStatus> layers_;
  std::shared_ptr<ScratchFolder> scratch_;  // the branches' too
  std::shared_ptr<EventSink> sink_;         // the runtime's record and the session's own; may be null
  std::unique_ptr<ApprovalDesk> desk_;
  std::unique_ptr<ToolDispatcher> dispatcher_;  // its threads, which end with it, use both of the above
  std::shared_ptr<TemplateProcess> private_template_;  // where a folder of the host is bound

  std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
  std::mutex run_mutex_;  // one cell, question or file operation at a time
  std::unique_ptr<SessionProcess> process_;
  std::shared_ptr<DiskWatch> disk_;  // where the work folder is one of the host's; the branches' too
  SessionFamily::Member member_ = SessionFamily::Member::kOriginal;
  std::shared_ptr<SessionFamily> family_;
  std::vector<KeptCopy> checkpoints_;  // the newest last
  std::uint64_t last_checkpoint_ = 0;
  std::uint32_t next_cell_ = 0;
  SessionTotals totals_;
  bool told_ = false;  // the sink knows the session
  std::atomic<bool> running_{false};
  std::atomic<bool> interrupt_{false};
  std::atomic<ClosedBy> closed_by_{ClosedBy::kNobody};
  bool released_ = false;                    // its place in the runtime
  Deadline::Clock::time_point last_used_{};  // the end of the last call
  Deadline lives_until_ = Deadline::Never();
  std::uint64_t timer_entry_ = 0;  // 0: none
  std::shared_ptr<AsyncRuns> async_runs_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SESSION_IMPL_H_
