#include "gloveport/core/agent/run_store.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <system_error>
#include <utility>

#include "gloveport/core/agent/evidence.h"
#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/record/kept_value.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".json";
constexpr std::size_t kMostFileBytes = 256u << 20;
constexpr std::size_t kMostDepth = 1000;  // answers are nested as deeply as cells may
constexpr int kMostTries = 20;

std::string_view RoleName(Role role) {
  if (role == Role::kSystem) return "system";
  return role == Role::kUser ? "user" : "assistant";
}

// Sorts by time, to the millisecond; the rest tells apart what several processes keep within one.
std::string NewId(std::chrono::system_clock::time_point now) {
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - second).count();
  std::random_device random;
  return fmt::format("{:%Y%m%d-%H%M%S}-{:03}{:02x}", fmt::gmtime(second), ms, random() & 0xFF);
}

// A new file for its owner's eyes only, whole or not at all.
Status WriteNew(const fs::path& path, std::string_view text) {
  const std::string part = path.string() + ".part";
  const UniqueFd file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return Fail(ErrorCode::kIo, fmt::format("{} cannot be written: {}", part, std::strerror(errno)));
  Status written = WriteFull(file.get(), AsBytes(text), Deadline::Never());
  if (written && ::fsync(file.get()) != 0) written = Fail(ErrorCode::kIo, std::strerror(errno));
  if (written && ::link(part.c_str(), path.c_str()) != 0)
    written = Fail(ErrorCode::kIo, fmt::format("{} cannot be made: {}", path.string(), std::strerror(errno)));
  ::unlink(part.c_str());
  return written;
}

Result<Json> ReadRun(const fs::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostFileBytes));
  auto json = ParseJson(text, {.max_bytes = kMostFileBytes, .max_depth = kMostDepth});
  if (!json) return Fail(ErrorCode::kInvalidArgument, path.string() + ": " + json.error().message);
  if (const Status checked = CheckRunFile(*json); !checked)
    return Fail(checked.error().code, path.string() + ": " + checked.error().message, checked.error().hint);
  return std::move(*json);
}

}  // namespace

Json RunFile(const AgentResult& result, const RunExtras& extras, const Redactor& redactor,
             std::string_view id, std::string_view time) {
  Json prompt = Json::array();
  for (const ChatMessage& message : result.prompt)
    prompt.push_back({{"role", RoleName(message.role)}, {"content", ToValidUtf8(message.content)}});
  return {{"gloveport_run", 1},
          {"id", id},
          {"time", time},
          {"prompt", Redacted(redactor, prompt)},
          {"memory", Redacted(redactor, extras.memory)},
          {"audit", extras.audit.empty() ? Json() : Json(extras.audit)},
          {"run", Redacted(redactor, ToJson(result))}};
}

Status CheckRunFile(const Json& file) {
  if (CountOf(file, "gloveport_run") != 1 || !MemberOf(file, "run").is_object() ||
      !MemberOf(file, "prompt").is_array()) {
    return Fail(ErrorCode::kInvalidArgument, "this is no agent run as gloveport keeps it (format 1)",
                "runs are kept by `gloveport run --save`");
  }
  return {};
}

Result<RunStore> RunStore::Open(const fs::path& folder) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error)
    return Fail(ErrorCode::kIo, fmt::format("{} cannot be made: {}", folder.string(), error.message()));
  if (made) fs::permissions(folder, fs::perms::owner_all, error);
  if (error)
    return Fail(ErrorCode::kIo,
                fmt::format("{} cannot be made private: {}", folder.string(), error.message()));
  return RunStore(folder);
}

Result<fs::path> RunStore::DefaultFolder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value ? value : "");
  };
  if (const fs::path own = variable("GLOVEPORT_RUNS"); !own.empty()) return own;
  if (const fs::path state = variable("XDG_STATE_HOME"); state.is_absolute())
    return state / "gloveport" / "runs";
  if (const fs::path home = variable("HOME"); home.is_absolute())
    return home / ".local" / "state" / "gloveport" / "runs";
  return Fail(ErrorCode::kNotFound, "there is no folder for runs: neither GLOVEPORT_RUNS nor HOME is set",
              "set GLOVEPORT_RUNS to a folder");
}

Result<std::string> RunStore::Save(const AgentResult& result, const RunExtras& extras,
                                   const Redactor& redactor) {
  for (int i = 0;; ++i) {
    const auto now = std::chrono::system_clock::now();
    std::string id = NewId(now);
    const Json file = RunFile(
        result, extras, redactor, id,
        fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::floor<std::chrono::seconds>(now))));
    const std::string text = file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (text.size() > kMostFileBytes) {
      return Fail(ErrorCode::kResourceExhausted,
                  fmt::format("the run has {} bytes, {} can be kept", text.size(), kMostFileBytes));
    }
    const Status written = WriteNew(folder_ / (id + std::string(kEnding)), text);
    if (written) return id;
    if (i >= kMostTries) return tl::unexpected(written.error());  // else: the id was taken
  }
}

Result<std::vector<std::string>> RunStore::Ids() const {
  std::vector<std::string> ids;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder_, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.ends_with(kEnding)) ids.push_back(name.substr(0, name.size() - kEnding.size()));
  }
  if (error)
    return Fail(ErrorCode::kIo, fmt::format("{} cannot be read: {}", folder_.string(), error.message()));
  std::sort(ids.rbegin(), ids.rend());
  return ids;
}

Result<std::vector<Json>> RunStore::List(std::size_t most) const {
  ASSIGN_OR_RETURN(const auto ids, Ids());
  std::vector<Json> runs;
  for (const std::string& id : ids) {
    if (runs.size() >= most) break;
    if (auto run = ReadRun(folder_ / (id + std::string(kEnding)))) runs.push_back(std::move(*run));
  }
  return runs;
}

Result<Json> RunStore::Load(std::string_view name) const {
  if (name.find('/') != std::string_view::npos || name.ends_with(kEnding)) return ReadRun(fs::path(name));
  ASSIGN_OR_RETURN(const auto ids, Ids());
  std::vector<std::string> found;
  for (const std::string& id : ids) {
    if (name == "last" || id.starts_with(name)) found.push_back(id);
    if (name == "last" && !found.empty()) break;
  }
  if (found.size() == 1) return ReadRun(folder_ / (found[0] + std::string(kEnding)));
  if (found.empty()) {
    return Fail(ErrorCode::kNotFound, fmt::format("no run \"{}\" is kept in {}", name, folder_.string()),
                ids.empty() ? "runs are kept by `gloveport run --save`"
                            : "`gloveport runs list` shows what there is");
  }
  return Fail(ErrorCode::kNotFound,
              fmt::format("\"{}\" may be any of {} runs: {}, {} ...", name, found.size(), found[0], found[1]),
              "write more of the id");
}

}  // namespace gloveport
