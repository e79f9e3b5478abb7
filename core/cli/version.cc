#include "gloveport/core/cli/version.h"

namespace gloveport {

const std::string_view kVersion = GLOVEPORT_VERSION;

}  // namespace gloveport
