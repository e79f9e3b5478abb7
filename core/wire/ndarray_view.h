// NdarrayView: a numpy array inside a Value, looked at in place.
//
// A plain view: it must not outlive the Value, needs no lock as long as nobody changes that, and copies
// nothing but the shape.
#ifndef GLOVEPORT_CORE_WIRE_NDARRAY_VIEW_H_
#define GLOVEPORT_CORE_WIRE_NDARRAY_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"

namespace gloveport {

// numpy's name of the dtype of a C++ type: "<f8" for double.
template <typename T>
constexpr std::string_view NumpyDtype() {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, long double>,
                "Gloveport: numpy arrays hold bool, integers, float and double here");
  if constexpr (std::is_same_v<T, bool>) return "|b1";
  if constexpr (std::is_same_v<T, double>) return "<f8";
  if constexpr (std::is_same_v<T, float>) return "<f4";
  constexpr std::size_t kSize = sizeof(T);
  if constexpr (std::is_signed_v<T>)
    return kSize == 1 ? "|i1" : kSize == 2 ? "<i2" : kSize == 4 ? "<i4" : "<i8";
  return kSize == 1 ? "|u1" : kSize == 2 ? "<u2" : kSize == 4 ? "<u4" : "<u8";
}

// "float64" for "<f8", as people write it; the dtype itself where it has no such name.
std::string NumpyTypeName(std::string_view dtype);

class NdarrayView {
 public:
  // kInvalidArgument where `value` is no ndarray, its items have no bytes (dtype object), or its bytes do not
  // fit its shape.
  static Result<NdarrayView> Of(const Value& value);

  std::string_view dtype() const { return dtype_; }  // as numpy writes it: "<f8"
  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t size() const { return size_; }                   // number of items
  std::span<const std::byte> bytes() const { return bytes_; }  // in C order, aligned for every item type

  template <typename T>
  bool Holds() const {
    return dtype_ == NumpyDtype<T>();
  }

  // All items in C order. kInvalidArgument where they are of another type.
  template <typename T>
  Result<std::span<const T>> As() const {
    if (!Holds<T>()) return WrongItems(NumpyDtype<T>());
    return std::span<const T>(reinterpret_cast<const T*>(bytes_.data()), size_);
  }

 private:
  NdarrayView() = default;
  tl::unexpected<Error> WrongItems(std::string_view expected) const;

  std::string_view dtype_;
  std::vector<std::size_t> shape_;
  std::size_t size_ = 0;
  std::span<const std::byte> bytes_;
};

// The Value of an array with these bytes; copies them once.
Value MakeNdarray(std::string_view dtype, std::span<const std::size_t> shape,
                  std::span<const std::byte> bytes);

// A one-dimensional array of numbers.
template <typename T>
Value MakeNdarray(std::span<const T> items) {
  const std::size_t shape[] = {items.size()};
  return MakeNdarray(NumpyDtype<T>(), shape, std::as_bytes(items));
}

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_WIRE_NDARRAY_VIEW_H_
