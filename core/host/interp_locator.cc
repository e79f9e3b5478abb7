#include "gloveport/core/host/interp_locator.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

namespace gloveport {
namespace {

namespace fs = std::filesystem;
constexpr const char* kProgram = "gloveport-interp";

std::vector<fs::path> Candidates(const fs::path& configured) {
  if (!configured.empty()) return {configured};
  if (const char* named = std::getenv("GLOVEPORT_INTERP"); named && *named) return {named};
  std::vector<fs::path> candidates;
  std::error_code error;
  if (const fs::path self = fs::read_symlink("/proc/self/exe", error); !error) {
    const fs::path folder = self.parent_path();
    candidates.push_back(folder / kProgram);
    candidates.push_back(folder.parent_path() / "libexec/gloveport" / kProgram);
    // Of the build folder only for its own programs: it may be anybody's by the time that others run.
    if (self.string().starts_with(GLOVEPORT_BUILD_FOLDER "/"))
      candidates.emplace_back(fs::path(GLOVEPORT_BUILD_FOLDER "/interp/child") / kProgram);
  }
  candidates.emplace_back(fs::path(GLOVEPORT_INSTALLED_INTERP));
  return candidates;
}

}  // namespace

Result<fs::path> LocateInterp(const fs::path& configured) {
  std::string tried;
  for (const fs::path& candidate : Candidates(configured)) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    tried += (tried.empty() ? "" : ", ") + candidate.string();
  }
  return Fail(ErrorCode::kNotFound, fmt::format("cannot find the program {} (tried {})", kProgram, tried),
              "install Gloveport, or set GLOVEPORT_INTERP or RuntimeOptions::interp_path");
}

}  // namespace gloveport
