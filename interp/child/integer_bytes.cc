#include "gloveport/interp/child/integer_bytes.h"

namespace gloveport::child {

// CPython 3.13 made an interface for this public; what was there before is internal to CPython and has other
// parameters since.
#if PY_VERSION_HEX >= 0x030d0000

std::optional<std::size_t> BytesNeeded(PyObject* integer) {
  // PyLong_AsNativeBytes tells more than is needed. A subclass may have a bit_length of its own: not asked.
  const PyRef bits = PyRef::Steal(
      PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyLong_Type), "bit_length", "O", integer));
  const std::size_t count = bits ? PyLong_AsSize_t(bits.get()) : 0;
  if (PyErr_Occurred()) return std::nullopt;
  return (count + 7) / 8;
}

bool WriteInteger(PyObject* integer, std::span<unsigned char> bytes) {
  return PyLong_AsNativeBytes(integer, bytes.data(), static_cast<Py_ssize_t>(bytes.size()),
                              Py_ASNATIVEBYTES_BIG_ENDIAN | Py_ASNATIVEBYTES_UNSIGNED_BUFFER) >= 0;
}

PyRef ReadInteger(std::span<const std::byte> bytes) {
  return PyRef::Steal(
      PyLong_FromUnsignedNativeBytes(bytes.data(), bytes.size(), Py_ASNATIVEBYTES_BIG_ENDIAN));
}

#else

std::optional<std::size_t> BytesNeeded(PyObject* integer) {
  const std::size_t bits = _PyLong_NumBits(integer);
  if (bits == static_cast<std::size_t>(-1) && PyErr_Occurred()) return std::nullopt;
  return (bits + 7) / 8;
}

bool WriteInteger(PyObject* integer, std::span<unsigned char> bytes) {
  return _PyLong_AsByteArray(reinterpret_cast<PyLongObject*>(integer), bytes.data(), bytes.size(), 0, 0) == 0;
}

PyRef ReadInteger(std::span<const std::byte> bytes) {
  return PyRef::Steal(
      _PyLong_FromByteArray(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), 0, 0));
}

#endif

}  // namespace gloveport::child
