// RejectionCounter: counts how often a person, or no answer in time, refused what a session asked. Internal
// to core/agent; thread-safe.
#ifndef GLOVEPORT_CORE_AGENT_REJECTION_COUNTER_H_
#define GLOVEPORT_CORE_AGENT_REJECTION_COUNTER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gloveport/core/host/event_sink.h"

namespace gloveport {

class RejectionCounter : public EventSink {
 public:
  void OnApprovalDecided(std::string_view, std::uint32_t, const ApprovalRequest&,
                         const ApprovalDecision& decision) override {
    if (!decision.allowed) ++count_;
  }
  std::size_t count() const { return count_; }

 private:
  std::atomic<std::size_t> count_{0};
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_REJECTION_COUNTER_H_
