// EventTee: passes everything on to two sinks, the first before the second.
#ifndef GLOVEPORT_CORE_HOST_EVENT_TEE_H_
#define GLOVEPORT_CORE_HOST_EVENT_TEE_H_

#include <memory>

#include "gloveport/core/host/event_sink.h"

namespace gloveport {

// Either may be null; where both are, so is the result.
std::shared_ptr<EventSink> Tee(std::shared_ptr<EventSink> first, std::shared_ptr<EventSink> second);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_EVENT_TEE_H_
