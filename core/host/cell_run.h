// CellRun: watches one cell from its start to its end. Deadlines, budgets and the outcome are decided here,
// from what the host sees; the child's own report only counts where the host has nothing against it.
#ifndef GLOVEPORT_CORE_HOST_CELL_RUN_H_
#define GLOVEPORT_CORE_HOST_CELL_RUN_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/host/call_limits.h"
#include "gloveport/core/host/cell_calls.h"
#include "gloveport/core/host/cell_clock.h"
#include "gloveport/core/host/cell_evidence.h"
#include "gloveport/core/host/disk_watch.h"
#include "gloveport/core/host/display_marks.h"
#include "gloveport/core/host/event_sink.h"
#include "gloveport/core/host/memory_budget.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/core/host/output_buffer.h"
#include "gloveport/core/host/output_order.h"
#include "gloveport/core/host/proc_stat.h"
#include "gloveport/core/host/session_family.h"
#include "gloveport/core/host/session_process.h"
#include "gloveport/core/host/tool_dispatcher.h"
#include "gloveport/core/host/usage_meter.h"
#include "gloveport/policy/policy.h"
#include "gloveport/policy/tool_rules.h"
#include "gloveport/tools/registry.h"

namespace gloveport {

// What a cell's run borrows; all of it outlives the run.
struct CellEnvironment {
  const std::string& session;
  const Policy& policy;
  const ToolGate& gate;
  const ToolRegistry* tools;  // may be null
  EventSink* sink;            // may be null
  ToolDispatcher& dispatcher;
  std::atomic<bool>& interrupt;  // set by another thread, together with dispatcher.Wake()
  SessionTotals& totals;
  const SessionFamily& family;
  DiskWatch* disk;  // null where the work folder limits itself
  ApprovalDesk& desk;
  std::shared_ptr<DecisionHook> hook;  // may be null
  std::chrono::milliseconds hook_time;
  Counters counters = Counters::kOff;
};

// Whether a person approved the cell: what the policy asks for may then be imported.
enum class Approved { kNo, kYes };

class CellRun : private CallOwner {
 public:
  CellRun(SessionProcess& process, const CellEnvironment& environment, std::uint32_t cell);

  // Runs the cell. Afterwards result.state tells whether the process can go on. Never fails: whatever the
  // child does is an outcome.
  // `clock`: the instant that its wall clock goes on from; absent: the real one.
  CellResult Run(std::string_view code, std::chrono::milliseconds wall, Approved approved,
                 std::optional<std::chrono::nanoseconds> clock = std::nullopt);

 private:
  enum class Stop { kNone, kWall, kCpu, kTotalCpu, kCalls, kInterrupt };
  void Loop();
  void WaitForEvents();
  Deadline NextDeadline() const;
  void AnswerHeldCall();
  void TakeWitnessed();
  void CheckDeadlines();
  void CheckMemory();
  void CheckDisk(std::uint64_t added_bytes);
  void RequestStop(Stop reason);
  void KillFor(Outcome outcome, std::string_view limit, std::string message);
  std::optional<Value> Keep(std::string_view encoded, const char* what);
  bool KeepText(std::size_t bytes);

  void TakeFrames();
  void ReadOutput();
  bool ReadStream(int fd, OutputBuffer& buffer, Stream stream);
  bool ReadFrame();
  void OnBrokenChannel(const Error& error);
  void Take(wire::SessionMessage& message);
  void On(wire::FinalAnswer& answer);
  void On(wire::Display& display);
  void On(wire::Event& event);
  void On(wire::CellDone& done);

  Deadline deadline() const override { return clock_.deadline(); }
  void Violate(std::string what) override;
  void AddRefusal(Refusal refusal) override { evidence_.AddRefusal(std::move(refusal)); }
  void Record(ToolCallRecord record) override;
  void Show(Value display) override;
  void OnCallLimit(LimitHit hit) override;
  void OnTooManyRefused() override { RequestStop(Stop::kCalls); }
  void OnHalfAnswer() override;

  void Finish();
  void FinishFromExit();
  void TrimSharedMemory();
  void FillUsage();
  Outcome StopOutcome() const;
  std::string_view LimitOf(Stop stop) const;   // empty for an interrupt
  LimitHit Hit(std::string_view limit) const;  // with what has been used by now
  std::string StopMessage() const;

  SessionProcess& process_;
  const CellEnvironment& environment_;
  const std::uint32_t cell_;
  CellResult result_;
  OutputBuffer out_;
  OutputBuffer err_;
  OutputOrder order_;
  DisplayList displays_;
  CellCalls calls_;
  std::optional<LimitHit> call_limit_;  // that made the host refuse a call
  MemoryBudget kept_budget_;            // what the result holds
  CellEvidence evidence_;
  UsageMeter meter_;

  CellClock clock_{std::chrono::nanoseconds(0)};  // started by Run
  Deadline kill_deadline_ = Deadline::Never();    // after a soft stop
  Deadline sample_at_ = Deadline::Never();
  Stop stop_ = Stop::kNone;
  bool done_ = false;    // CellDone came
  bool exited_ = false;  // the process has ended
  bool channel_closed_ = false;
  bool out_open_ = true;
  bool err_open_ = true;
  std::optional<Outcome> killed_for_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_CELL_RUN_H_
