// MemoryFile: values under keys, in one JSON file of the host. Every change writes a new file in the place of
// the old one, so that a reader or a crash never meets half of it. Several processes may use the same file.
#ifndef GLOVEPORT_TOOLS_BUILTIN_MEMORY_FILE_H_
#define GLOVEPORT_TOOLS_BUILTIN_MEMORY_FILE_H_

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/wire/value.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

struct MemoryLimits {
  std::size_t max_keys = 1'000;
  std::size_t max_key_bytes = 200;
  std::size_t max_value_bytes = 256u << 10;  // as JSON
  std::size_t max_file_bytes = 16u << 20;
};

// Thread-safe.
class MemoryFile {
 public:
  MemoryFile(std::filesystem::path path, MemoryLimits limits) : path_(std::move(path)), limits_(limits) {}

  // Whether the file is there and one of ours, or can be made: kInvalidArgument, kIo.
  Status Check();

  // kInvalidArgument for a key that is empty or too long, kResourceExhausted for the other limits; the file
  // then stays as it is.
  Status Put(const std::string& key, const Value& value);
  Result<bool> Remove(const std::string& key);  // whether it was there
  Result<std::optional<Value>> Get(const std::string& key);
  Result<std::vector<std::string>> Keys(std::string_view prefix);  // sorted

 private:
  Result<UniqueFd> Lock(int operation);
  Result<Json> Load();
  Status Store(const Json& entries);

  const std::filesystem::path path_;
  const MemoryLimits limits_;
  std::mutex mutex_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_MEMORY_FILE_H_
