// The part of SessionImpl that copies sessions: checkpoints, branches, and the copy that stands by while a
// cell runs.
#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/host/session_impl.h"

namespace gloveport {
namespace {

// A session that stalls its own copy keeps others of the same template from being copied meanwhile.
constexpr std::chrono::seconds kCopyTime{5};

}  // namespace

void SessionImpl::SetProcess(std::unique_ptr<SessionProcess> process) {
  DropProcess();
  family_->Add(process->pid(), member_);
  process_ = std::move(process);
}

void SessionImpl::DropProcess() {
  if (!process_) return;
  family_->Remove(process_->pid());
  process_.reset();
}

// After any error but kDenied the process itself is of no more use.
Result<std::unique_ptr<SessionProcess>> SessionImpl::CopyOf(SessionProcess& process) {
  const std::chrono::milliseconds patience = surroundings_.pool.templates().patience().answer;
  auto copy = process.Branch(Deadline::After(std::min<std::chrono::milliseconds>(kCopyTime, patience)));
  if (copy || copy.error().code == ErrorCode::kDenied) return copy;
  Error error = copy.error();
  if (&process == process_.get()) {
    DropProcess();
    error.message += "; the session's variables are lost";
  }
  return tl::unexpected<Error>(std::move(error));
}

Result<std::unique_ptr<SessionProcess>> SessionImpl::CopyWithinLimits(SessionProcess& process) {
  RETURN_IF_ERROR(family_->CheckRoomForCopyOf(process.pid()));
  return CopyOf(process);
}

// Nothing where the policy does not want one, or the session cannot be copied just now: a cell that is killed
// then takes the state with it, as its result says.
Result<std::unique_ptr<SessionProcess>> SessionImpl::CopyBeforeCell() {
  if (options_.policy.checkpoints != Checkpoints::kEachCell) return nullptr;
  auto copy = CopyOf(*process_);
  if (!copy && copy.error().code == ErrorCode::kDenied) return nullptr;
  return copy;
}

Result<std::string> SessionImpl::Checkpoint() {
  const InUse use(*this);
  RETURN_IF_ERROR(Prepare());
  ASSIGN_OR_RETURN(auto copy, CopyWithinLimits(*process_));
  family_->Add(copy->pid(), SessionFamily::Member::kCopy);
  checkpoints_.push_back({fmt::format("c{}", ++last_checkpoint_), std::move(copy)});
  if (sink_) sink_->OnStateChange(id(), {"checkpoint", checkpoints_.back().name});
  return checkpoints_.back().name;
}

Result<std::size_t> SessionImpl::FindCheckpoint(std::string_view name) const {
  const auto found = name.empty() ? checkpoints_.end() - (checkpoints_.empty() ? 0 : 1)
                                  : std::ranges::find(checkpoints_, name, &KeptCopy::name);
  if (found != checkpoints_.end()) return static_cast<std::size_t>(found - checkpoints_.begin());
  return Fail(ErrorCode::kNotFound,
              name.empty() ? fmt::format("session {} has no checkpoint", id())
                           : fmt::format("session {} has no checkpoint named \"{}\"", id(), name),
              "make one with Checkpoint() first");
}

Status SessionImpl::Rollback(std::string_view checkpoint) {
  const InUse use(*this);
  if (closed()) return tl::unexpected<Error>(ClosedError());
  ASSIGN_OR_RETURN(const std::size_t at, FindCheckpoint(checkpoint));
  auto copy = CopyOf(*checkpoints_[at].process);
  if (copy) {
    SetProcess(std::move(*copy));
    if (sink_) sink_->OnStateChange(id(), {"rollback", checkpoints_[at].name});
    return {};
  }
  Error error = copy.error();
  if (error.code != ErrorCode::kDenied) {  // its process is of no more use
    error.message =
        fmt::format("checkpoint \"{}\" is lost and was forgotten: {}", checkpoints_[at].name, error.message);
    error.hint = "the session itself is as it was; go back to another checkpoint";
    DropCheckpoint(at);
  }
  return tl::unexpected<Error>(std::move(error));
}

Status SessionImpl::Forget(std::string_view checkpoint) {
  const InUse use(*this);
  if (closed()) return tl::unexpected<Error>(ClosedError());
  ASSIGN_OR_RETURN(const std::size_t at, FindCheckpoint(checkpoint));
  if (sink_) sink_->OnStateChange(id(), {"forget", checkpoints_[at].name});
  DropCheckpoint(at);
  return {};
}

void SessionImpl::DropCheckpoint(std::size_t at) {
  family_->Remove(checkpoints_[at].process->pid());
  checkpoints_.erase(checkpoints_.begin() + static_cast<std::ptrdiff_t>(at));
}

Result<std::vector<std::unique_ptr<Session>>> SessionImpl::Branch(
    std::size_t count, const std::function<BranchOptions(std::size_t)>& options) {
  const InUse use(*this);
  RETURN_IF_ERROR(Prepare());
  std::vector<std::unique_ptr<Session>> branches;
  while (branches.size() < count) {
    SessionOptions own = options_;
    if (options) {
      BranchOptions given = options(branches.size());
      own.tools = std::move(given.tools);
      own.sink = std::move(given.sink);
      own.approver = std::move(given.approver);
    }
    ASSIGN_OR_RETURN(auto branch, MakeBranch(std::move(own)));
    branches.push_back(std::move(branch));
  }
  return branches;
}

Result<std::unique_ptr<Session>> SessionImpl::MakeBranch(SessionOptions options) {
  ASSIGN_OR_RETURN(auto branch, Make(std::move(options), surroundings_));
  ASSIGN_OR_RETURN(auto copy, CopyWithinLimits(*process_));
  {
    const InUse use(*branch);
    branch->family_ = family_;
    branch->member_ = SessionFamily::Member::kCopy;
    branch->layers_ = layers_;
    branch->scratch_ = scratch_;
    branch->disk_ = disk_;
    branch->private_template_ = private_template_;
    branch->opened_ = opened_;
    branch->next_cell_ = next_cell_;
    branch->desk_->Inherit(desk_->grants());
    branch->SetProcess(std::move(copy));
  }
  if (sink_) sink_->OnStateChange(id(), {"branch", branch->id()});
  if (branch->sink_) {
    SessionFacts facts = branch->Facts();
    facts.branch_of = id();
    branch->sink_->OnSessionOpen(facts);
    branch->told_ = true;
  }
  RETURN_IF_ERROR(branch->StartTimer());
  return branch;
}

}  // namespace gloveport
