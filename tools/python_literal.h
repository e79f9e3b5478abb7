// Values as Python writes them, for signatures and messages. Pure.
#ifndef GLOVEPORT_TOOLS_PYTHON_LITERAL_H_
#define GLOVEPORT_TOOLS_PYTHON_LITERAL_H_

#include <cstddef>
#include <string>

#include "gloveport/core/wire/value.h"

namespace gloveport {

// "None", "True", "'it\\'s'", "[1, 2.5]", "{'a': (1,)}". Forms that Python has no literal for are written as
// the call that makes them where that is short (Decimal('1.5')), else as "...". Always one line of valid
// UTF-8.
std::string PythonLiteral(const Value& value);

// The same, cut to about `max_bytes` with "..." at the end.
std::string ShortLiteral(const Value& value, std::size_t max_bytes = 60);

// The arguments of a call, each value cut to about `max_bytes`: "contacts=3, channel='cellular'". What is no
// map has none.
std::string PythonArguments(const Value& arguments, std::size_t max_bytes = std::string::npos);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_PYTHON_LITERAL_H_
