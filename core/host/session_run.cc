// How SessionImpl runs a cell: judged, approved where the policy asks for it, run, and put back where it was
// lost.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/host/cell_run.h"
#include "gloveport/core/host/session_impl.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxCodeBytes = 8u << 20;

std::string DescribeFindings(const Verdict& verdict) {
  std::string text;
  for (const Finding& finding : verdict.findings) {
    text += fmt::format("{}line {}, column {}: {} [{}]", text.empty() ? "" : "\n", finding.line,
                        finding.column, finding.message, finding.rule);
    if (!finding.hint.empty()) text += fmt::format("\n  hint: {}", finding.hint);
  }
  return text;
}

// A grant covers cells in which the same things were found, wherever they stand.
std::string GrantFor(const Verdict& verdict) {
  std::vector<std::string> found;
  for (const Finding& finding : verdict.findings)
    found.push_back(fmt::format("{} [{}]", finding.message, finding.rule));
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return fmt::format("cells with: {}", fmt::join(found, "; "));
}

}  // namespace

Status SessionImpl::CheckRunnable(std::string_view code, const RunOptions& options) const {
  if (code.size() > kMaxCodeBytes) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("a cell of {} bytes; {} are allowed", code.size(), kMaxCodeBytes),
                "put large data into a file or a variable of the session");
  }
  if (!IsValidUtf8(code)) return Fail(ErrorCode::kInvalidArgument, "the code is not valid UTF-8");
  if (options.inspect == InspectMode::kOff && options_.policy.inspection == Inspection::kRequired) {
    return Fail(ErrorCode::kDenied,
                fmt::format("the policy \"{}\" requires inspection", options_.policy.name),
                "leave inspection on, or use a policy with \"inspection\": \"optional\"");
  }
  return {};
}

Result<CellResult> SessionImpl::Run(std::string_view code, const RunOptions& options) {
  RETURN_IF_ERROR(CheckRunnable(code, options));
  const InUse use(*this);
  RETURN_IF_ERROR(Prepare());
  const std::uint32_t cell = next_cell_++;
  if (sink_) sink_->OnCellStart(id(), cell, code);
  interrupt_ = false;
  running_ = true;
  if (closed()) interrupt_ = true;  // it was closed a moment ago
  auto result = JudgeAndRun(cell, std::string(code), options);
  running_ = false;
  if (!result) return result;
  result->cell = cell;
  if (sink_) sink_->OnCellEnd(id(), *result);
  return result;
}

Result<CellResult> SessionImpl::JudgeAndRun(std::uint32_t cell, std::string code, const RunOptions& options) {
  std::optional<Verdict> verdict;
  bool approved = false;
  while (options.inspect != InspectMode::kOff) {
    ASSIGN_OR_RETURN(verdict, Judge(cell, code));
    if (verdict->decision == Decision::kAllow || (verdict->decision == Decision::kEscalate && approved))
      break;
    if (verdict->decision == Decision::kDeny) return Denied(cell, std::move(*verdict), "");
    ApprovalDecision decision = AskForCell(cell, code, *verdict);
    if (!decision.allowed) return Denied(cell, std::move(*verdict), decision.reason);
    approved = true;
    if (!decision.code || *decision.code == code) break;
    code = std::move(*decision.code);  // a person wrote it, and the policy has its say on that as well
  }
  if (sink_) RETURN_IF_ERROR(sink_->Commit());
  ASSIGN_OR_RETURN(auto before, CopyBeforeCell());
  CellResult result = RunInProcess(cell, code, options, approved ? Approved::kYes : Approved::kNo);
  if (result.state == SessionState::kLost) DropProcess();
  if (result.state == SessionState::kLost && before) {
    SetProcess(std::move(before));
    result.state = SessionState::kRestored;
    if (sink_) sink_->OnStateChange(id(), {"restored", ""});
  }
  if (before) surroundings_.pool.Discard(std::move(before));
  result.verdict = std::move(verdict);
  return result;
}

Result<Verdict> SessionImpl::Judge(std::uint32_t cell, std::string_view code) {
  std::vector<std::string> names;
  for (const ToolSpec* spec : VisibleTools()) names.push_back(spec->name);
  ASSIGN_OR_RETURN(Verdict verdict, surroundings_.inspector.Check(options_.policy, code, names));
  if (options_.hook) verdict = AskHookAboutCell(code, std::move(verdict));
  if (sink_) sink_->OnVerdict(id(), cell, verdict);
  return verdict;
}

Verdict SessionImpl::AskHookAboutCell(std::string_view code, Verdict verdict) const {
  HookQuestion question;
  question.session = id();
  question.code = code;
  question.verdict = ToEffect(verdict.decision);
  question.findings = verdict.findings;
  const HookAnswer answer = AskHook(*options_.hook, question, options_.hook_time);
  return WithHookAnswer(std::move(verdict), answer, options_.hook->name());
}

// Waits, as long as nobody interrupts.
ApprovalDecision SessionImpl::AskForCell(std::uint32_t cell, const std::string& code,
                                         const Verdict& verdict) {
  ApprovalRequest request;
  request.cell = cell;
  request.subject = ApprovalSubject::kCell;
  request.code = code;
  request.reason = DescribeFindings(verdict);
  request.grant = GrantFor(verdict);
  const auto pending = desk_->Ask(std::move(request));
  while (true) {
    if (auto decision = desk_->Settle(*pending)) return std::move(*decision);
    if (interrupt_ || closed()) break;
    (void)WaitFor(dispatcher_->wake_fd(), POLLIN, pending->request().deadline);
    (void)dispatcher_->TakeCompleted();  // of earlier cells: nobody waits for them any more
  }
  desk_->Withdraw(*pending);
  ApprovalDecision decision;
  decision.reason = "interrupted while this was waited for";
  return decision;
}

CellResult SessionImpl::RunInProcess(std::uint32_t cell, std::string_view code, const RunOptions& options,
                                     Approved approved) {
  const auto wall =
      std::min(options.timeout.value_or(options_.policy.limits.wall), options_.policy.limits.wall);
  std::optional<std::chrono::nanoseconds> offset;
  std::optional<std::chrono::nanoseconds> clock;
  if (options_.policy.clock) {
    offset = options.clock_offset.value_or(std::chrono::steady_clock::now() - opened_);
    clock = *options_.policy.clock + *offset;
  }
  const CellEnvironment environment{id(),
                                    options_.policy,
                                    gate_,
                                    options_.tools.get(),
                                    sink_.get(),
                                    *dispatcher_,
                                    interrupt_,
                                    totals_,
                                    *family_,
                                    disk_.get(),
                                    *desk_,
                                    options_.hook,
                                    options_.hook_time,
                                    sink_ && sink_->wants_counters() ? Counters::kOn : Counters::kOff};
  CellResult result = CellRun(*process_, environment, cell).Run(code, wall, approved, clock);
  result.clock_offset = offset;
  return result;
}

CellResult SessionImpl::Denied(std::uint32_t cell, Verdict verdict, std::string_view reason) {
  CellResult result;
  result.outcome = Outcome::kDenied;
  PythonError error;
  error.type = "PolicyError";
  error.message = DescribeFindings(verdict);
  if (verdict.decision == Decision::kEscalate)
    error.message +=
        fmt::format("\nthis needs a person's approval and did not get it: {}", GivenReason(reason));
  if (!verdict.findings.empty()) error.line = verdict.findings.front().line;
  error.cell = static_cast<int>(cell);
  for (const Finding& finding : verdict.findings) {
    result.usage.denied.push_back({"inspector", finding.rule, finding.message, finding.hint});
  }
  result.error = std::move(error);
  result.refusal_reason = reason;
  result.verdict = std::move(verdict);
  return result;
}

void SessionImpl::RunAsync(std::string code, RunOptions options,
                           std::function<void(Result<CellResult>)> done) {
  async_runs_->Add(std::move(code), options, std::move(done));
}

Status SessionImpl::Interrupt() {
  if (!running_) return {};
  interrupt_ = true;
  dispatcher_->Wake();
  return {};
}

}  // namespace gloveport
