#include "gloveport/core/host/session_facts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <map>
#include <mutex>
#include <tuple>

#include "gloveport/core/base/text.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/host/sha256.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxModules = 20'000;
constexpr off_t kMaxFileBytes = 256 << 20;
constexpr std::string_view kChildLibrary = "gloveport-interp-child.so";

using Identity = std::tuple<dev_t, ino_t, off_t, time_t, long>;

std::string HashOfFile(int fd) {
  Sha256 hash;
  std::array<char, 65536> part{};
  ssize_t got = 0;
  while ((got = ::read(fd, part.data(), part.size())) > 0)
    hash.Add({part.data(), static_cast<std::size_t>(got)});
  return got < 0 ? "" : hash.TakeHex();
}

// The path came from a child: only a regular file is read, and only its hash leaves this function.
std::string HashOf(const std::string& path) {
  static std::mutex mutex;
  static std::map<Identity, std::string> known;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > kMaxFileBytes)
    return "";
  const Identity identity{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                          status.st_mtim.tv_nsec};
  const std::lock_guard lock(mutex);
  if (known.size() > kMaxModules) known.clear();
  const auto [entry, is_new] = known.try_emplace(identity);
  if (is_new) entry->second = HashOfFile(file.get());
  return entry->second;
}

// Where a module's file has been resolved by the host already, the link is not followed.
RuntimeFile Describe(std::string name, std::string path) {
  std::error_code failed;
  const auto resolved = path.empty() ? std::filesystem::path() : std::filesystem::canonical(path, failed);
  std::string hash = resolved.empty() ? "" : HashOf(resolved.string());
  return {std::move(name), std::move(path), std::move(hash)};
}

}  // namespace

void AddRuntimeFiles(SessionFacts& facts, const std::filesystem::path& program, const Value& described) {
  facts.image.push_back(Describe("gloveport-interp", program.string()));
  if (const auto library = program.parent_path() / kChildLibrary; std::filesystem::exists(library))
    facts.image.push_back(Describe(std::string(kChildLibrary), library.string()));
  facts.image.push_back(Describe("python", ToValidUtf8(described.TextOr("executable", ""))));
  facts.python_version = ToValidUtf8(described.TextOr("version", ""));
  const Value* modules = described.Find("modules");
  if (modules == nullptr || !modules->is_map()) return;
  for (const auto& [name, path] : modules->as_map()) {
    if (facts.modules.size() >= kMaxModules || !name.is_text() || !path.is_text()) continue;
    facts.modules.push_back(Describe(ToValidUtf8(name.as_text()), ToValidUtf8(path.as_text())));
  }
}

}  // namespace gloveport
