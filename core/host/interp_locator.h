// Where gloveport-interp is, the program that embeds Python.
#ifndef GLOVEPORT_CORE_HOST_INTERP_LOCATOR_H_
#define GLOVEPORT_CORE_HOST_INTERP_LOCATOR_H_

#include <filesystem>

#include "gloveport/core/base/result.h"

namespace gloveport {

// `configured` if not empty, else $GLOVEPORT_INTERP, else beside the running program, ../libexec/gloveport
// from it, where Gloveport was installed; for a program of the build folder also there. kNotFound lists what
// was tried.
Result<std::filesystem::path> LocateInterp(const std::filesystem::path& configured);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_INTERP_LOCATOR_H_
