#include "gloveport/core/host/tool_question.h"

#include <fmt/core.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace gloveport {
namespace {

// What the answer wakes; it may come when nobody waits any more.
struct Bell {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool rung = false;
};

}  // namespace

ApprovalDecision ToolQuestions::Ask(CallContext& context, const std::string& tool, std::string reason,
                                    Value details) {
  const auto start = Deadline::Clock::now();
  ++waiting_;
  dispatcher_.Wake();
  ApprovalRequest request;
  request.cell = context.cell;
  request.tool = tool;
  request.arguments = std::move(details);
  request.grant = fmt::format("what {} asks: {}", tool, reason);
  request.reason = std::move(reason);
  const auto bell = std::make_shared<Bell>();
  const auto pending = desk_.Ask(std::move(request), [bell] {
    const std::lock_guard lock(bell->mutex);
    bell->rung = true;
    bell->changed.notify_all();
  });
  {
    std::unique_lock lock(bell->mutex);
    // Not by pending->decision(): whoever rings has its lock.
    bell->changed.wait_until(lock, context.stop, pending->request().deadline.when(),
                             [&] { return bell->rung; });
  }
  std::optional<ApprovalDecision> decision;
  if (!context.stop.stop_requested()) decision = desk_.Settle(*pending);
  if (!decision) {
    desk_.Withdraw(*pending);
    decision.emplace();
    decision->reason = "the call was stopped while this was waited for";
    decision->by = "host";
  }
  if (!context.deadline.never())
    context.deadline = Deadline::At(context.deadline.when() + (Deadline::Clock::now() - start));
  --waiting_;
  dispatcher_.Wake();
  return *decision;
}

}  // namespace gloveport
