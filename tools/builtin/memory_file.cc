#include "gloveport/tools/builtin/memory_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::uint64_t kVersion = 1;

Status WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FailErrno("cannot write the memory file", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

// A file of its own beside the other, which is replaced as a whole: a lock on what is replaced is none.
Result<UniqueFd> MemoryFile::Lock(int operation) {
  const std::string path = path_.string() + ".lock";
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return FailErrno("cannot open " + path, errno);
  int locked = -1;
  do {
    locked = ::flock(lock.get(), operation);
  } while (locked != 0 && errno == EINTR);
  if (locked != 0) return FailErrno("cannot lock " + path, errno);
  return lock;
}

Result<Json> MemoryFile::Load() {
  const auto text = ReadFile(path_, limits_.max_file_bytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return Json::object();
  if (!text) return tl::unexpected<Error>(text.error());
  const auto json = ParseJson(*text);
  const bool ours = json && json->is_object() && json->contains("entries") &&
                    (*json)["entries"].is_object() && CountOf(*json, "version") == kVersion;
  if (!ours)
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} is no memory file of Gloveport", path_.string()),
                "name another file, or remove it");
  return (*json)["entries"];
}

Status MemoryFile::Store(const Json& entries) {
  const std::string text = DumpJson(Json{{"version", kVersion}, {"entries", entries}}) + "\n";
  if (text.size() > limits_.max_file_bytes)
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("all that is remembered would be more than {} bytes: remove something first",
                            limits_.max_file_bytes));
  // What Load would not read must not take the place of what it does.
  if (const auto readable = ParseJson(text); !readable)
    return Fail(ErrorCode::kInvalidArgument, "the value cannot be kept: " + readable.error().message);
  std::string draft = path_.string() + ".XXXXXX";
  const UniqueFd file(::mkostemp(draft.data(), O_CLOEXEC));
  if (!file) return FailErrno("cannot make a file beside " + path_.string(), errno);
  Status status = WriteAll(file.get(), text);
  if (status && ::fsync(file.get()) != 0) status = FailErrno("cannot write " + draft, errno);
  if (status && ::rename(draft.c_str(), path_.c_str()) != 0)
    status = FailErrno("cannot put " + path_.string() + " in its place", errno);
  if (!status) ::unlink(draft.c_str());
  return status;
}

Status MemoryFile::Check() {
  const std::lock_guard guard(mutex_);
  RETURN_IF_ERROR(Lock(LOCK_SH));
  RETURN_IF_ERROR(Load());
  return {};
}

Status MemoryFile::Put(const std::string& key, const Value& value) {
  if (key.empty() || key.size() > limits_.max_key_bytes)
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("a key has from 1 to {} bytes", limits_.max_key_bytes));
  Json json = ToJson(value);
  const std::size_t size = DumpJson(json).size();
  if (size > limits_.max_value_bytes)
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("the value has {} bytes as JSON, more than {}", size, limits_.max_value_bytes));
  const std::lock_guard guard(mutex_);
  ASSIGN_OR_RETURN(const UniqueFd lock, Lock(LOCK_EX));
  ASSIGN_OR_RETURN(Json entries, Load());
  entries[key] = std::move(json);
  if (entries.size() > limits_.max_keys)
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("there are {} keys already, as many as there may be: remove one first",
                            limits_.max_keys));
  return Store(entries);
}

Result<bool> MemoryFile::Remove(const std::string& key) {
  const std::lock_guard guard(mutex_);
  ASSIGN_OR_RETURN(const UniqueFd lock, Lock(LOCK_EX));
  ASSIGN_OR_RETURN(Json entries, Load());
  if (entries.erase(key) == 0) return false;
  RETURN_IF_ERROR(Store(entries));
  return true;
}

Result<std::optional<Value>> MemoryFile::Get(const std::string& key) {
  const std::lock_guard guard(mutex_);
  ASSIGN_OR_RETURN(const Json entries, Load());
  const auto found = entries.find(key);
  if (found == entries.end()) return std::optional<Value>();
  ASSIGN_OR_RETURN(Value value, FromJson(*found));
  return std::optional<Value>(std::move(value));
}

Result<std::vector<std::string>> MemoryFile::Keys(std::string_view prefix) {
  const std::lock_guard guard(mutex_);
  ASSIGN_OR_RETURN(const Json entries, Load());
  std::vector<std::string> keys;
  for (const auto& [key, value] : entries.items()) {
    if (key.starts_with(prefix)) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace gloveport
