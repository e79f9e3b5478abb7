#include "gloveport/core/host/session_family.h"

#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/host/proc_stat.h"

namespace gloveport {

void SessionFamily::Add(pid_t pid, Member member) {
  const std::lock_guard lock(mutex_);
  members_[pid] = member;
}

void SessionFamily::Remove(pid_t pid) {
  const std::lock_guard lock(mutex_);
  members_.erase(pid);
}

std::uint64_t SessionFamily::GrowthOf(pid_t pid) const {
  const std::uint64_t now = ReadAnonymousBytes(pid);
  return now > template_bytes_ ? now - template_bytes_ : 0;
}

std::uint64_t SessionFamily::GrowthOfAll() const {
  std::uint64_t growth = 0;
  for (const auto& [member, kind] : members_) growth += GrowthOf(member);
  return growth;
}

Status SessionFamily::CheckRoomForCopyOf(pid_t pid) const {
  const std::lock_guard lock(mutex_);
  const auto copies = std::ranges::count(members_, Member::kCopy, &std::pair<const pid_t, Member>::second);
  if (static_cast<std::uint64_t>(copies) >= limits_.copies) {
    return Fail(ErrorCode::kResourceExhausted, fmt::format("copies: limit of {} reached", limits_.copies),
                "close branches, or raise \"copies\" in the policy's limits");
  }
  const std::uint64_t growth = GrowthOf(pid) + GrowthOfAll();
  if (growth <= limits_.memory_mib << 20) return {};
  return Fail(
      ErrorCode::kResourceExhausted,
      fmt::format("memory: {} MiB limit reached by a session and its copies together, {} MiB with one more",
                  limits_.memory_mib, growth >> 20),
      "close branches, delete large values first, or raise \"memory_mib\"");
}

std::uint64_t SessionFamily::SharedGrowthBytes() const {
  const std::lock_guard lock(mutex_);
  return members_.size() < 2 ? 0 : GrowthOfAll();
}

}  // namespace gloveport
