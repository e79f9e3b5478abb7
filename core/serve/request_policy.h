// The policy that a request of the session protocol names or spells out.
#ifndef GLOVEPORT_CORE_SERVE_REQUEST_POLICY_H_
#define GLOVEPORT_CORE_SERVE_REQUEST_POLICY_H_

#include "gloveport/core/base/result.h"
#include "gloveport/core/serve/request.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

// "policy" is the name of a preset or an object as policy/codec.h reads it; absent: the preset "default".
Result<Policy> PolicyOf(const Request& request);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_REQUEST_POLICY_H_
