// DiskWatch: how much a session and its branches have added to a folder of the host. A folder that the host
// made for a session is a sized file system, which limits itself; this is for those that it did not.
//
// Thread-safe.
#ifndef GLOVEPORT_CORE_HOST_DISK_WATCH_H_
#define GLOVEPORT_CORE_HOST_DISK_WATCH_H_

#include <cstdint>
#include <mutex>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

class DiskWatch {
 public:
  // What is in there now is not counted.
  explicit DiskWatch(UniqueFd directory);

  // Bytes added. Walks the folder, so it looks at most every kInterval unless it is made to; in between, what
  // it last saw. Files that were deleted and are still open cannot be seen.
  std::uint64_t AddedBytes();
  std::uint64_t AddedBytesNow();

  static constexpr std::chrono::milliseconds kInterval{250};

 private:
  const UniqueFd directory_;
  std::mutex mutex_;
  std::uint64_t before_ = 0;
  std::uint64_t added_ = 0;
  Deadline look_at_ = Deadline::After(kInterval);
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_DISK_WATCH_H_
