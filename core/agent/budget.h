// Budget: what an agent run, and the agents that it calls, may spend together. Thread-safe.
//
// Each run of the tree tells its budget of every reply; each asks it before the next. So a budget can be
// exceeded by the replies that were under way when it was used up, never by more.
#ifndef GLOVEPORT_CORE_AGENT_BUDGET_H_
#define GLOVEPORT_CORE_AGENT_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "gloveport/core/agent/stop_reason.h"
#include "gloveport/core/base/deadline.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

// Absent: without limit.
struct BudgetLimits {
  std::optional<std::int64_t> max_tokens;  // of all prompts and replies
  std::optional<double> max_cost;          // in the currency of the price table
  std::optional<std::size_t> max_steps;    // replies, of all agents of the tree
  Deadline deadline = Deadline::Never();
};

class Budget {
 public:
  struct Overrun {
    StopReason reason;    // kMaxTokens, kMaxCost, kMaxSteps or kDeadline
    std::string message;  // one sentence for people
  };

  explicit Budget(BudgetLimits limits = {}) : limits_(limits) {}

  // One reply. `cost` is absent where the model has no price: then a limit on the cost stops the run, because
  // nobody could say that it holds.
  void Spend(const TokenUsage& tokens, std::optional<double> cost);

  // Which limit stands against another reply.
  std::optional<Overrun> Exceeded() const;

  // For the model, which plans with it: "5 replies, 12,000 tokens, 90 s"; empty without any limit.
  std::string LeftText() const;

  Deadline deadline() const { return limits_.deadline; }
  bool counts_cost() const { return limits_.max_cost.has_value(); }
  std::int64_t tokens() const;
  double cost() const;  // of the replies whose price is known

 private:
  const BudgetLimits limits_;
  mutable std::mutex mutex_;
  std::int64_t tokens_ = 0;
  double cost_ = 0;
  bool unpriced_ = false;  // a reply had no price
  std::size_t steps_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_BUDGET_H_
