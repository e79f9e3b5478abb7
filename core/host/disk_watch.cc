#include "gloveport/core/host/disk_watch.h"

#include <utility>

#include "gloveport/core/host/work_folder.h"

namespace gloveport {

DiskWatch::DiskWatch(UniqueFd directory)
    : directory_(std::move(directory)), before_(WorkFolder(directory_.get()).UsedBytes()) {}

std::uint64_t DiskWatch::AddedBytes() {
  {
    const std::lock_guard lock(mutex_);
    if (!look_at_.passed()) return added_;
  }
  return AddedBytesNow();
}

std::uint64_t DiskWatch::AddedBytesNow() {
  const std::uint64_t now = WorkFolder(directory_.get()).UsedBytes();
  const std::lock_guard lock(mutex_);
  added_ = now > before_ ? now - before_ : 0;
  look_at_ = Deadline::After(kInterval);
  return added_;
}

}  // namespace gloveport
