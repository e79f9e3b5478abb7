// Errors about what the command line names.
#ifndef GLOVEPORT_CORE_CLI_OPTION_ERROR_H_
#define GLOVEPORT_CORE_CLI_OPTION_ERROR_H_

#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"

namespace gloveport {

// The error says which option it is about. That a file cannot be read is a matter of how the command was
// called.
template <typename T>
Result<T> AtOption(std::string_view option, Result<T> result) {
  if (result) return result;
  Error& error = result.error();
  error.message = std::string(option) + ": " + error.message;
  if (error.code == ErrorCode::kIo) error.code = ErrorCode::kInvalidArgument;
  return result;
}

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_OPTION_ERROR_H_
