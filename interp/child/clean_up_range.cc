#include "gloveport/interp/child/clean_up_range.h"

#include <opcode.h>

#include <optional>
#include <span>

#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030e0000

namespace gloveport::child {
namespace {

std::span<const unsigned char> BytesOf(PyObject* bytes) {
  if (bytes == nullptr || !PyBytes_Check(bytes)) return {};
  return {reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(bytes)),
          static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))};
}

// The un-specialized instructions; CPython keeps the bytes with the code object.
class Instructions {
 public:
  explicit Instructions(PyCodeObject* code)
      : owner_(PyRef::Steal(PyCode_GetCode(code))), bytes_(BytesOf(owner_.get())) {
    if (!owner_) PyErr_Clear();
  }
  int size() const { return static_cast<int>(bytes_.size()); }
  int At(int offset) const {
    while (offset >= 0 && offset + 1 < size() && bytes_[static_cast<std::size_t>(offset)] == EXTENDED_ARG)
      offset += 2;
    return offset >= 0 && offset + 1 < size() ? bytes_[static_cast<std::size_t>(offset)] : -1;
  }

 private:
  PyRef owner_;
  std::span<const unsigned char> bytes_;
};

// Entries of the exception table are four variable-length numbers: start, length, target, depth and a flag.
class ExceptionTable {
 public:
  explicit ExceptionTable(PyCodeObject* code) : bytes_(BytesOf(code->co_exceptiontable)) {}

  // Where an exception at `offset` goes.
  std::optional<int> HandlerOf(int offset) {
    position_ = 0;
    while (position_ < bytes_.size()) {
      const int start = 2 * Number();
      const int length = 2 * Number();
      const int target = 2 * Number();
      Number();
      if (start <= offset && offset < start + length) return target;
    }
    return std::nullopt;
  }

 private:
  // Six bits a byte, the highest first; bit 6 says that there are more, bit 7 marks the first of an entry.
  int Number() {
    int value = 0;
    while (position_ < bytes_.size()) {
      const unsigned char byte = bytes_[position_++];
      value = (value << 6) | (byte & 63);
      if ((byte & 64) == 0) break;
    }
    return value;
  }

  std::span<const unsigned char> bytes_;
  std::size_t position_ = 0;
};

// An except clause compares before it does anything else; a finally body compares only inside handlers of its
// own.
bool IsExceptClause(const Instructions& instructions, int offset) {
  const int first = instructions.At(offset);
  if (first == POP_TOP || first == COPY) return true;  // a bare except; an except*
  for (; offset < instructions.size(); offset += 2) {
    switch (instructions.At(offset)) {
      case CHECK_EXC_MATCH:
      case CHECK_EG_MATCH:
        return true;
      case PUSH_EXC_INFO:
      case POP_TOP:
      case RERAISE:
      case RETURN_VALUE:
#ifdef RETURN_CONST  // 3.12
      case RETURN_CONST:
#endif
      case RAISE_VARARGS:
      case STORE_NAME:
      case STORE_GLOBAL:
      case STORE_FAST:
#ifdef STORE_FAST_STORE_FAST  // 3.13
      case STORE_FAST_STORE_FAST:
      case STORE_FAST_LOAD_FAST:
#endif
      case STORE_DEREF:
      case STORE_ATTR:
      case STORE_SUBSCR:
        return false;
      default:
        break;
    }
  }
  return false;
}

#ifdef POP_JUMP_FORWARD_IF_TRUE  // 3.11 alone has jumps by direction
constexpr int kSuppressed = POP_JUMP_FORWARD_IF_TRUE;
#else
constexpr int kSuppressed = POP_JUMP_IF_TRUE;
#endif

int EndOfWithExit(const Instructions& instructions, int offset) {
  while (offset < instructions.size() && instructions.At(offset) != kSuppressed) offset += 2;
  return offset;
}

bool StoresLocal(int opcode) {
#ifdef STORE_FAST_STORE_FAST
  if (opcode == STORE_FAST_STORE_FAST) return true;
#endif
  return opcode == STORE_FAST;
}

// From 3.12 on a comprehension is part of the function that it stands in, and hides variables of the same
// name. What gives them their values back when it fails is SWAP, POP_TOP, SWAP, STORE_FAST ...
bool RestoresVariables(const Instructions& instructions, int offset) {
  const int opcode = instructions.At(offset);
  if (opcode == POP_TOP) return instructions.At(offset - 2) == SWAP;
  if (!StoresLocal(opcode)) return false;
  do {
    offset -= 2;
  } while (StoresLocal(instructions.At(offset)));
  return instructions.At(offset) == SWAP;
}

}  // namespace

CleanUpRange CleanUpAt(PyCodeObject* code, int offset) {
  const Instructions instructions(code);
  if (instructions.At(offset) != PUSH_EXC_INFO) return {};
  const int body = offset + 2;
  if (instructions.At(body) == WITH_EXCEPT_START) return {offset, EndOfWithExit(instructions, body)};
  if (IsExceptClause(instructions, body)) return {};
  // The body is guarded by code that restores the handled exception, and that follows right behind it.
  const std::optional<int> end = ExceptionTable(code).HandlerOf(offset);
  return {offset, end && *end > offset ? *end : instructions.size()};
}

bool IsHandlerBookkeeping(PyCodeObject* code, int offset) {
  const Instructions instructions(code);
  switch (instructions.At(offset)) {
    case PUSH_EXC_INFO:
    case COPY:
    case SWAP:
    case POP_EXCEPT:
    case RERAISE:
      return true;
    default:
      return PY_VERSION_HEX >= 0x030c0000 && RestoresVariables(instructions, offset);
  }
}

bool IsUnguardedJump(PyCodeObject* code, int offset) {
  return PY_VERSION_HEX >= 0x030c0000 && Instructions(code).At(offset) == JUMP_BACKWARD &&
         !ExceptionTable(code).HandlerOf(offset);
}

bool IsYield(PyCodeObject* code, int offset) { return Instructions(code).At(offset) == YIELD_VALUE; }

}  // namespace gloveport::child

#else

namespace gloveport::child {

CleanUpRange CleanUpAt(PyCodeObject*, int) { return {}; }
bool IsHandlerBookkeeping(PyCodeObject*, int) { return false; }
bool IsUnguardedJump(PyCodeObject*, int) { return false; }
bool IsYield(PyCodeObject*, int) { return false; }

}  // namespace gloveport::child

#endif
