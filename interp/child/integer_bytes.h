// The bytes of Python integers of any size, the most significant first. Everything in this file needs the
// GIL.
#ifndef GLOVEPORT_INTERP_CHILD_INTEGER_BYTES_H_
#define GLOVEPORT_INTERP_CHILD_INTEGER_BYTES_H_

#include <cstddef>
#include <optional>
#include <span>

#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

// How many bytes the integer, which is not negative, takes at least. Empty with a Python error set.
std::optional<std::size_t> BytesNeeded(PyObject* integer);

// Fills `bytes`, which has the size that BytesNeeded gave. False with a Python error set.
bool WriteInteger(PyObject* integer, std::span<unsigned char> bytes);

// The integer, not negative, that these bytes stand for; null with a Python error set.
PyRef ReadInteger(std::span<const std::byte> bytes);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_INTEGER_BYTES_H_
