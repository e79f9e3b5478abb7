// The native tool of this example: what it costs to contact clients.
#ifndef GLOVEPORT_EXAMPLES_CONVERSION_CONTACT_COST_H_
#define GLOVEPORT_EXAMPLES_CONVERSION_CONTACT_COST_H_

#include <cstdint>
#include <string>

#include "gloveport/core/base/result.h"

namespace conversion {

// Cost in EUR of `contacts` contacts over a channel of the campaign: "cellular", "telephone" or "unknown".
// kInvalidArgument for any other channel and for a negative number.
gloveport::Result<double> ContactCost(std::int64_t contacts, const std::string& channel);

}  // namespace conversion

#endif  // GLOVEPORT_EXAMPLES_CONVERSION_CONTACT_COST_H_
