#include "gloveport/core/host/policy_argument.h"

#include <utility>

namespace gloveport {

PolicyArgument ToPolicyArgument(const Value& value) {
  if (value.is_null()) return {};
  if (value.is_bool()) return {value.as_bool()};
  if (value.is_int()) return {value.as_int()};
  if (value.is_double()) return {value.as_double()};
  if (value.is_text()) return {value.as_text()};
  if (value.is(Form::kPath) && value.payload().is_text()) return {value.payload().as_text()};
  const Value* items = value.is_list() ? &value : nullptr;
  if (value.is(Form::kTuple) && value.payload().is_list()) items = &value.payload();
  if (!items) return {PolicyArgument::Opaque{}};
  PolicyArgument::List list;
  for (const Value& item : items->as_list()) list.push_back(ToPolicyArgument(item));
  return {std::move(list)};
}

}  // namespace gloveport
