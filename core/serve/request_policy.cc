#include "gloveport/core/serve/request_policy.h"

#include <fmt/format.h>

#include "gloveport/policy/codec.h"
#include "gloveport/policy/presets.h"

namespace gloveport {

Result<Policy> PolicyOf(const Request& request) {
  const Json* given = request.Find("policy");
  if (given == nullptr || given->is_null()) return PresetPolicy("default");
  if (given->is_string()) return PresetPolicy(given->get<std::string>());
  if (given->is_object()) return ParsePolicy(DumpJson(*given), fmt::format("policy of {}", request.op()));
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: \"policy\" must be the name of a preset or an object, not {}", request.op(),
                          JsonKind(*given)));
}

}  // namespace gloveport
