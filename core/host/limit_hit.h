// The limits of a policy by name: how a result tells which one was reached, its value and what was used.
#ifndef GLOVEPORT_CORE_HOST_LIMIT_HIT_H_
#define GLOVEPORT_CORE_HOST_LIMIT_HIT_H_

#include <string_view>

#include "gloveport/core/host/outcome.h"

namespace gloveport {

// `name` is one of those that LimitHit::limit lists; value and use are in its unit.
LimitHit MakeLimitHit(std::string_view name, double value, double used);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_LIMIT_HIT_H_
