#include "gloveport/core/agent/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace gloveport {

void Budget::Spend(const TokenUsage& tokens, std::optional<double> cost) {
  const std::lock_guard lock(mutex_);
  tokens_ += tokens.input_tokens + tokens.output_tokens;
  cost_ += cost.value_or(0);
  unpriced_ = unpriced_ || !cost;
  ++steps_;
}

std::optional<Budget::Overrun> Budget::Exceeded() const {
  const std::lock_guard lock(mutex_);
  if (limits_.deadline.passed()) return Overrun{StopReason::kDeadline, "the time for the run is over"};
  if (limits_.max_steps && steps_ >= *limits_.max_steps) {
    return Overrun{StopReason::kMaxSteps, fmt::format("there was no answer after {} steps", steps_)};
  }
  if (limits_.max_tokens && tokens_ >= *limits_.max_tokens) {
    return Overrun{StopReason::kMaxTokens,
                   fmt::format("{} tokens are used, {} were allowed", tokens_, *limits_.max_tokens)};
  }
  if (!limits_.max_cost) return std::nullopt;
  if (unpriced_) {
    return Overrun{StopReason::kMaxCost,
                   "the cost of a reply is not known, so that the limit on it cannot be kept; add the model "
                   "to the price table"};
  }
  if (cost_ < *limits_.max_cost) return std::nullopt;
  return Overrun{StopReason::kMaxCost,
                 fmt::format("{:.4f} are spent, {:.4f} were allowed", cost_, *limits_.max_cost)};
}

std::string Budget::LeftText() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (limits_.max_steps) {
    const std::size_t left = *limits_.max_steps - std::min(*limits_.max_steps, steps_);
    add(fmt::format("{} repl{}", left, left == 1 ? "y" : "ies"));
  }
  if (limits_.max_tokens)
    add(fmt::format("{} tokens", std::max<std::int64_t>(0, *limits_.max_tokens - tokens_)));
  if (limits_.max_cost) add(fmt::format("{:.4f} of money", std::max(0.0, *limits_.max_cost - cost_)));
  if (!limits_.deadline.never()) {
    add(fmt::format("{} s",
                    std::chrono::duration_cast<std::chrono::seconds>(limits_.deadline.left()).count()));
  }
  return text;
}

std::int64_t Budget::tokens() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}

double Budget::cost() const {
  const std::lock_guard lock(mutex_);
  return cost_;
}

}  // namespace gloveport
