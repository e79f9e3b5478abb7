// The typed CBOR of core/wire (FORMAT.md) to Python objects: the real ones where the class is there
// (datetime, Decimal, arrays, a dataclass or enum of the session), else what comes nearest (a dict, a plain
// value). Needs the GIL.
#ifndef GLOVEPORT_INTERP_CHILD_VALUE_DECODER_H_
#define GLOVEPORT_INTERP_CHILD_VALUE_DECODER_H_

#include <string_view>

#include "gloveport/core/wire/shared_space.h"
#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

// Decodes exactly one value. Null with a Python error set (ValueError for malformed input) where that fails.
// Large byte strings may stand in `shared` and are given back.
PyRef DecodeObject(std::string_view encoded, const SharedView* shared = nullptr);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_VALUE_DECODER_H_
