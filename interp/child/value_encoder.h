// Python objects to the typed CBOR of core/wire (FORMAT.md), without a Value in between. Needs the GIL.
//
// The objects belong to cells: their code may run in the middle (a property, __repr__, a dataclass field) and
// change what is being encoded. Strong references are taken, sizes are checked again, base-type slots are
// used for subclasses.
#ifndef GLOVEPORT_INTERP_CHILD_VALUE_ENCODER_H_
#define GLOVEPORT_INTERP_CHILD_VALUE_ENCODER_H_

#include <cstddef>
#include <string>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

// kExact: what has no faithful form is a TypeError. kShown: it becomes the form "object" with its type and
// repr.
enum class Fidelity { kExact, kShown };

// Appends `object`. On failure a Python error is set (TypeError, ValueError for cycles and depth,
// OverflowError for size, or what the object's own code raised) and the writer is as it was before.
bool EncodeObject(PyObject* object, CborWriter& writer, Fidelity fidelity, WireLimits limits = {});

// The same for one of several objects that are written into one value: what they have together is counted in
// `budget`, and must be within its limits. `writer` holds nothing but that value.
struct EncodeBudget {
  WireLimits limits;
  std::size_t items = 0;
};
bool EncodeObject(PyObject* object, CborWriter& writer, Fidelity fidelity, EncodeBudget& budget);

// The whole object as the form "object": for values that cannot be encoded at all. Never fails.
void EncodeAsShown(PyObject* object, CborWriter& writer);

// repr(object) as UTF-8, at most about `max_bytes`, then saying how much was cut. A repr that raises is
// reported in place; only exceptions that end the cell (no subclass of Exception) are left set, with an empty
// result.
std::string ShownRepr(PyObject* object, std::size_t max_bytes);

inline constexpr std::size_t kMaxReprBytes = 64 << 10;

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_VALUE_ENCODER_H_
