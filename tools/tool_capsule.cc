#include "gloveport/tools/tool_capsule.h"

#include <fmt/format.h>

#include <string>

#include "gloveport/tools/tool.h"

namespace gloveport {
namespace {

#if defined(__clang__)
constexpr std::string_view kCompiler = "clang";
constexpr int kCompilerVersion = __clang_major__;
#else
constexpr std::string_view kCompiler = "gcc";
constexpr int kCompilerVersion = __GNUC__;
#endif
#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
constexpr std::string_view kStrings = "cxx11";
#else
constexpr std::string_view kStrings = "other";
#endif

// Goes up with each change of these types that their sizes do not show: order of virtual functions, meaning.
constexpr int kRevision = 1;

}  // namespace

const char* ToolCapsuleName() {
  static const auto* const name = new std::string(  // for good: capsules may go later than anything else
      fmt::format("{} {} revision {} {}{} {} {}-{}-{}-{}", kToolCapsuleFamily, GLOVEPORT_VERSION, kRevision,
                  kCompiler, kCompilerVersion, kStrings, sizeof(Value), sizeof(ToolSpec), sizeof(CallContext),
                  sizeof(Result<Value>)));
  return name->c_str();
}

}  // namespace gloveport
