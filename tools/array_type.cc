#include "gloveport/tools/array_type.h"

#include <fmt/format.h>

namespace gloveport::tool_type_internal {

Result<NdarrayView> ArrayFrom(const Value& value, const ValuePlace& place, std::string_view dtype) {
  if (!value.is(Form::kNdarray)) {
    const std::string of = dtype.empty() ? "" : fmt::format(", dtype='{}'", NumpyTypeName(dtype));
    return WrongType(place, fmt::format("a numpy array (make one by numpy.asarray(x{}))", of), value);
  }
  auto view = NdarrayView::Of(value);
  if (!view) return WrongValue(place, view.error().message);
  return view;
}

Result<NdarrayView> VectorFrom(const Value& value, const ValuePlace& place, std::string_view dtype) {
  ASSIGN_OR_RETURN(NdarrayView view, ArrayFrom(value, place, dtype));
  if (view.dtype() != dtype) {
    const std::string wanted = NumpyTypeName(dtype);
    return WrongValue(
        place, fmt::format("expected a numpy array of {0}, got one of {1}; convert it by x.astype('{0}')",
                           wanted, NumpyTypeName(view.dtype())));
  }
  if (view.shape().size() != 1) {
    return WrongValue(
        place, fmt::format("expected a numpy array of one dimension, got one of {}; flatten it by x.ravel()",
                           view.shape().size()));
  }
  return view;
}

Value NumberArraySchema(std::string_view item_type) {
  Value schema = TypeSchema("array");
  if (!item_type.empty()) schema.Set("items", TypeSchema(item_type));
  return schema;
}

}  // namespace gloveport::tool_type_internal
