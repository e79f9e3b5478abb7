// Tee: passes on what an agent run tells to two observers, the first before the second.
#ifndef GLOVEPORT_CORE_AGENT_OBSERVER_TEE_H_
#define GLOVEPORT_CORE_AGENT_OBSERVER_TEE_H_

#include <memory>

#include "gloveport/core/agent/agent_observer.h"

namespace gloveport {

// Either may be null; where both are, so is the result.
std::shared_ptr<AgentObserver> Tee(std::shared_ptr<AgentObserver> first,
                                   std::shared_ptr<AgentObserver> second);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_OBSERVER_TEE_H_
