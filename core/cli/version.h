// The version of this build.
#ifndef GLOVEPORT_CORE_CLI_VERSION_H_
#define GLOVEPORT_CORE_CLI_VERSION_H_

#include <string_view>

namespace gloveport {

extern const std::string_view kVersion;  // "0.1.0"

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_VERSION_H_
