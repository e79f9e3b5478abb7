#include "gloveport/tools/variant_type.h"

#include <algorithm>
#include <utility>

namespace gloveport::tool_type_internal {

std::string UnionAnnotation(const std::vector<std::string>& alternatives) {
  std::vector<std::string> seen;
  for (const std::string& alternative : alternatives) {
    if (alternative == "object") return alternative;
    if (std::find(seen.begin(), seen.end(), alternative) == seen.end()) seen.push_back(alternative);
  }
  std::string out;
  for (const std::string& alternative : seen) out += (out.empty() ? "" : " | ") + alternative;
  return out;
}

Value UnionSchema(Value::List alternatives) {
  const Value anything{Value::Map()};
  if (std::find(alternatives.begin(), alternatives.end(), anything) != alternatives.end()) return anything;
  return Value::Object({{"anyOf", Value(std::move(alternatives))}});
}

}  // namespace gloveport::tool_type_internal
