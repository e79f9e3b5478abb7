// Finds the trailing expression of a cell's text without parsing it, so that the text need be compiled only
// once: what comes before it as statements, and itself as an expression. Pure; knows the lexical structure of
// Python 3.11 to 3.14 only.
#ifndef GLOVEPORT_INTERP_CHILD_STATEMENT_SCANNER_H_
#define GLOVEPORT_INTERP_CHILD_STATEMENT_SCANNER_H_

#include <cstddef>
#include <string_view>

namespace gloveport::child {

struct LastStatement {
  enum class Kind {
    kExpression,  // [begin, end) is an expression statement, the last statement of the text
    kOther,       // the last statement is no expression, or there is none
    kUnsure,      // ask the parser
  };
  Kind kind = Kind::kUnsure;
  std::size_t begin = 0;  // in bytes
  std::size_t end = 0;
  std::size_t line = 0;    // of `begin`, from 0
  std::size_t column = 0;  // of `begin`, in bytes from 0
  bool alone = false;      // nothing but comments comes before it
  bool one_line = false;   // it is on the only logical line
};

// For text that is valid Python the answer is right or kUnsure. For other text it may be anything: the parts
// then fail to compile, and the whole text has to be compiled for the error.
LastStatement FindLastStatement(std::string_view text);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_STATEMENT_SCANNER_H_
