#include "gloveport/interp/child/clean_up_range.h"

#include <opcode.h>

#include <optional>
#include <span>

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "the unwinder reads CPython 3.11's bytecode; other versions need their own table of instructions"
#endif

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
      case RAISE_VARARGS:
      case STORE_NAME:
      case STORE_GLOBAL:
      case STORE_FAST:
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

int EndOfWithExit(const Instructions& instructions, int offset) {
  while (offset < instructions.size() && instructions.At(offset) != POP_JUMP_FORWARD_IF_TRUE) offset += 2;
  return offset;
}

}  // namespace

int OpcodeAt(PyCodeObject* code, int offset) { return Instructions(code).At(offset); }

CleanUpRange CleanUpAt(PyCodeObject* code, int offset) {
  const Instructions instructions(code);
  const int body = offset + 2;
  if (instructions.At(body) == WITH_EXCEPT_START) return {offset, EndOfWithExit(instructions, body)};
  if (IsExceptClause(instructions, body)) return {};
  // The body is guarded by code that restores the handled exception, and that follows right behind it.
  const std::optional<int> end = ExceptionTable(code).HandlerOf(offset);
  return {offset, end && *end > offset ? *end : instructions.size()};
}

bool IsHandlerBookkeeping(int opcode) {
  switch (opcode) {
    case PUSH_EXC_INFO:
    case COPY:
    case SWAP:
    case POP_EXCEPT:
    case RERAISE:
      return true;
    default:
      return false;
  }
}

}  // namespace gloveport::child
