#include "gloveport/interp/child/value_decoder.h"

#include <cstring>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/core/wire/large_copy.h"
#include "gloveport/interp/child/integer_bytes.h"
#include "gloveport/interp/child/python_parts.h"

namespace gloveport::child {
namespace {

class Decoder {
 public:
  Decoder(std::string_view encoded, const SharedView* shared) : reader_(encoded, {}, shared) {}

  PyRef DecodeAll() {
    PyRef value = Decode(0);
    if (value && !reader_.AtEnd()) return Malformed("bytes after the end of a value");
    return value;
  }

 private:
  PyRef Decode(std::size_t depth) {
    if (depth > reader_.limits().max_depth) return Malformed("it is nested too deeply");
    const CborItem item = reader_.Next();
    switch (item.kind) {
      case CborKind::kNull:
        return PyRef::Borrow(Py_None);
      case CborKind::kBool:
        return PyRef::Borrow(item.argument != 0 ? Py_True : Py_False);
      case CborKind::kInt:
        return PyRef::Steal(PyLong_FromUnsignedLongLong(item.argument));
      case CborKind::kNegative:
        return Negative(item.argument);
      case CborKind::kDouble:
        return PyRef::Steal(PyFloat_FromDouble(item.number));
      case CborKind::kText:
        return PyRef::Steal(PyUnicode_DecodeUTF8(item.bytes.data(), Size(item.bytes), nullptr));
      case CborKind::kBytes:
        return Bytes(item.bytes, depth);
      case CborKind::kArray:
        return List(item.argument, depth);
      case CborKind::kMap:
        return Dict(item.argument, depth);
      case CborKind::kTag:
        return Tagged(item.argument, depth);
      case CborKind::kEnd:
        break;
    }
    return Malformed("");
  }

  static Py_ssize_t Size(std::string_view bytes) { return static_cast<Py_ssize_t>(bytes.size()); }

  PyRef Malformed(const char* what) {
    if (!PyErr_Occurred()) {
      PyErr_Format(PyExc_ValueError, "a malformed value came from the host: %s",
                   reader_.ok() ? what : reader_.error().c_str());
    }
    return {};
  }

  PyRef Negative(std::uint64_t n) {  // -1 - n is ~n
    const PyRef magnitude = PyRef::Steal(PyLong_FromUnsignedLongLong(n));
    return magnitude ? PyRef::Steal(PyNumber_Invert(magnitude.get())) : PyRef();
  }

  // Counts were checked against the bytes that are there, so memory is bounded by the message.
  PyRef List(std::uint64_t count, std::size_t depth) {
    PyRef list = PyRef::Steal(PyList_New(static_cast<Py_ssize_t>(count)));
    if (!list) return {};
    for (std::uint64_t i = 0; i < count; ++i) {
      PyRef item = Decode(depth + 1);
      if (!item) return {};
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item.release());
    }
    return list;
  }

  PyRef Dict(std::uint64_t count, std::size_t depth) {
    PyRef dict = PyRef::Steal(PyDict_New());
    if (!dict) return {};
    for (std::uint64_t i = 0; i < count; ++i) {
      const PyRef key = Decode(depth + 1);
      const PyRef value = key ? Decode(depth + 1) : PyRef();
      if (!value || PyDict_SetItem(dict.get(), key.get(), value.get()) != 0) return {};
    }
    return dict;
  }

  PyRef Tagged(std::uint64_t tag, std::size_t depth) {
    if (tag == kTagPositiveBigInt || tag == kTagNegativeBigInt) return Integer(tag == kTagNegativeBigInt);
    const auto form = FormOfTag(tag);
    if (!form) return Malformed("an unknown tag");
    const std::size_t outer = array_depth_;
    if (*form == Form::kNdarray) array_depth_ = depth + 1;
    const PyRef payload = Decode(depth + 1);
    array_depth_ = outer;
    if (!payload) return {};
    if (*form == Form::kTuple) return PyRef::Steal(PySequence_Tuple(payload.get()));
    if (*form == Form::kSet) return PyRef::Steal(PySet_New(payload.get()));
    if (*form == Form::kFrozenset) return PyRef::Steal(PyFrozenSet_New(payload.get()));
    PyObject* from_form = PythonFunction("codec", "from_form");
    const PyRef name = PyText(FormName(*form));
    if (from_form == nullptr || !name) return {};
    return PyRef::Steal(PyObject_CallFunctionObjArgs(from_form, name.get(), payload.get(), nullptr));
  }

  PyRef Integer(bool negative) {
    const CborItem item = reader_.Next();
    if (item.kind != CborKind::kBytes || item.bytes.size() > BigInt::kMaxMagnitudeBytes) {
      return Malformed("an integer without its bytes, or with too many");
    }
    PyRef magnitude = ReadInteger(std::as_bytes(std::span(item.bytes)));
    if (!magnitude || !negative) return magnitude;
    return PyRef::Steal(PyNumber_Invert(magnitude.get()));
  }

  // An array takes its bytes as they are, so that a large one is copied once: they must be its own to write
  // to.
  PyRef Bytes(std::string_view bytes, std::size_t depth) {
    if (array_depth_ == 0 || depth != array_depth_ + 1)
      return PyRef::Steal(PyBytes_FromStringAndSize(bytes.data(), Size(bytes)));
    PyRef array = PyRef::Steal(PyByteArray_FromStringAndSize(nullptr, Size(bytes)));
    if (!array) return array;
    PreferHugePages(PyByteArray_AS_STRING(array.get()), bytes.size());
    std::memcpy(PyByteArray_AS_STRING(array.get()), bytes.data(), bytes.size());
    return array;
  }

  CborReader reader_;
  std::size_t array_depth_ = 0;  // where the payload of the innermost ndarray stands; 0 outside of one
};

}  // namespace

PyRef DecodeObject(std::string_view encoded, const SharedView* shared) {
  return Decoder(encoded, shared).DecodeAll();
}

}  // namespace gloveport::child
