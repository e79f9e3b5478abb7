// How an extension module of Python hands its C++ tools to the Python package: in a capsule of this name with
// a std::shared_ptr<gloveport::Tool>* in it. examples/notebooks/native_tools is one that does.
#ifndef GLOVEPORT_TOOLS_TOOL_CAPSULE_H_
#define GLOVEPORT_TOOLS_TOOL_CAPSULE_H_

#include <string_view>

namespace gloveport {

// What the names of all such capsules begin with, whatever Gloveport made them.
inline constexpr std::string_view kToolCapsuleFamily = "gloveport.tool";

// "gloveport.tool 0.1.0 gcc12 ...": the family, then what must be the same on both sides before one may touch
// the other's objects: version, compiler, and the sizes of the types that cross. The package refuses a
// capsule with another name without looking into it. Lives as long as the module that is linked with it.
const char* ToolCapsuleName();

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_TOOL_CAPSULE_H_
