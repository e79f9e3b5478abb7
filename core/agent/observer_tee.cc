#include "gloveport/core/agent/observer_tee.h"

#include <utility>

namespace gloveport {
namespace {

class ObserverTee : public AgentObserver {
 public:
  ObserverTee(std::shared_ptr<AgentObserver> first, std::shared_ptr<AgentObserver> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  void OnState(AgentState state) override { Both(&AgentObserver::OnState, state); }
  void OnStep(std::size_t number, std::size_t max_steps) override {
    Both(&AgentObserver::OnStep, number, max_steps);
  }
  bool wants_deltas() const override { return first_->wants_deltas() || second_->wants_deltas(); }
  void OnDelta(const ChatDelta& delta) override {
    if (first_->wants_deltas()) first_->OnDelta(delta);
    if (second_->wants_deltas()) second_->OnDelta(delta);
  }
  void OnModelReply(const ChatReply& reply) override { Both(&AgentObserver::OnModelReply, reply); }
  void OnPlan(const AgentPlan& plan) override { Both(&AgentObserver::OnPlan, plan); }
  void OnAction(const Action& action) override { Both(&AgentObserver::OnAction, action); }
  void OnCheck(const Result<std::vector<Finding>>& found) override { Both(&AgentObserver::OnCheck, found); }
  void OnResult(const CellResult& result) override { Both(&AgentObserver::OnResult, result); }
  void OnValidation(const std::vector<SchemaError>& errors) override {
    Both(&AgentObserver::OnValidation, errors);
  }
  void OnObservation(std::string_view text) override { Both(&AgentObserver::OnObservation, text); }
  void OnRecovery(const RecoveryRecord& record) override { Both(&AgentObserver::OnRecovery, record); }
  void OnStop(const AgentResult& result) override { Both(&AgentObserver::OnStop, result); }

 private:
  template <typename Method, typename... Args>
  void Both(Method method, const Args&... args) {
    ((*first_).*method)(args...);
    ((*second_).*method)(args...);
  }

  const std::shared_ptr<AgentObserver> first_;
  const std::shared_ptr<AgentObserver> second_;
};

}  // namespace

std::shared_ptr<AgentObserver> Tee(std::shared_ptr<AgentObserver> first,
                                   std::shared_ptr<AgentObserver> second) {
  if (!first) return second;
  if (!second) return first;
  return std::make_shared<ObserverTee>(std::move(first), std::move(second));
}

}  // namespace gloveport
