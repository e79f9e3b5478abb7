#include "gloveport/core/wire/ndarray_view.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "gloveport/core/wire/large_copy.h"

namespace gloveport {
namespace {

// Bytes of one item: numpy writes byte order, kind and size, "<f8". 0 where that is not known, as for
// structured types. Text counts in characters of four bytes; dates name their unit behind the size.
std::size_t ItemBytes(std::string_view dtype) {
  if (dtype.size() < 3 || dtype.size() > 32) return 0;
  std::size_t count = 0;
  std::size_t end = 2;
  while (end < dtype.size() && dtype[end] >= '0' && dtype[end] <= '9' && count < 100'000'000)
    count = count * 10 + static_cast<std::size_t>(dtype[end++] - '0');
  switch (dtype[1]) {
    case 'U':
      return end == dtype.size() ? count * 4 : 0;
    case 'M':
    case 'm':
      return end > 2 ? count : 0;
    default:
      return end == dtype.size() ? count : 0;
  }
}

tl::unexpected<Error> Malformed(std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("a numpy array whose {}", what));
}

}  // namespace

std::string NumpyTypeName(std::string_view dtype) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kNames = {
      {{"|b1", "bool"},
       {"|i1", "int8"},
       {"<i2", "int16"},
       {"<i4", "int32"},
       {"<i8", "int64"},
       {"|u1", "uint8"},
       {"<u2", "uint16"},
       {"<u4", "uint32"},
       {"<u8", "uint64"},
       {"<f4", "float32"},
       {"<f8", "float64"}}};
  for (const auto& [name, text] : kNames) {
    if (name == dtype) return std::string(text);
  }
  return std::string(dtype);
}

Result<NdarrayView> NdarrayView::Of(const Value& value) {
  if (!value.is(Form::kNdarray)) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("expected a numpy array, got {}", value.TypeName()));
  }
  const Value* dtype = value.payload().Find("dtype");
  const Value* shape = value.payload().Find("shape");
  const Value* data = value.payload().Find("data");
  if (dtype == nullptr || !dtype->is_text() || shape == nullptr || !shape->is_list()) {
    return Malformed("dtype or shape is missing");
  }
  if (data == nullptr || !data->is_bytes()) return Malformed("items are Python objects, not numbers");
  NdarrayView view;
  view.dtype_ = dtype->as_text();
  view.bytes_ = data->as_bytes();
  view.size_ = 1;
  for (const Value& length : shape->as_list()) {
    if (!length.is_int() || length.as_int() < 0) return Malformed("shape is none");
    const auto items = static_cast<std::size_t>(length.as_int());
    if (items != 0 && view.size_ > std::numeric_limits<std::size_t>::max() / items)
      return Malformed("shape is too large");
    view.size_ *= items;
    view.shape_.push_back(items);
  }
  const std::size_t item_bytes = ItemBytes(view.dtype_);
  if (view.size_ != 0 && (item_bytes == 0 || view.bytes_.size() / item_bytes != view.size_ ||
                          view.bytes_.size() % item_bytes != 0)) {
    return Malformed(fmt::format("{} bytes are not its {} items of dtype {}", view.bytes_.size(), view.size_,
                                 view.dtype_));
  }
  return view;
}

tl::unexpected<Error> NdarrayView::WrongItems(std::string_view expected) const {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("expected a numpy array of {}, got one of {}", NumpyTypeName(expected),
                          NumpyTypeName(dtype_)),
              fmt::format("convert it in the cell: x.astype('{}')", NumpyTypeName(expected)));
}

Value MakeNdarray(std::string_view dtype, std::span<const std::size_t> shape,
                  std::span<const std::byte> bytes) {
  Value::List lengths;
  for (const std::size_t length : shape) lengths.emplace_back(static_cast<std::uint64_t>(length));
  Value::Map payload;
  payload.emplace_back(Value("dtype"), Value(dtype));
  payload.emplace_back(Value("shape"), Value(std::move(lengths)));
  payload.emplace_back(Value("data"), Value(CopyBytes(bytes)));
  return Value(Form::kNdarray, Value(std::move(payload)));
}

}  // namespace gloveport
