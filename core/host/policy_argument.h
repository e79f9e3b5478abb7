// A Value as the policy's tool rules judge it.
#ifndef GLOVEPORT_CORE_HOST_POLICY_ARGUMENT_H_
#define GLOVEPORT_CORE_HOST_POLICY_ARGUMENT_H_

#include "gloveport/core/wire/value.h"
#include "gloveport/policy/constraint.h"

namespace gloveport {

PolicyArgument ToPolicyArgument(const Value& value);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_POLICY_ARGUMENT_H_
