// SessionFamily: a session, its checkpoints and its branches. They share one budget of memory, and there are
// only so many of them.
//
// Thread-safe.
#ifndef GLOVEPORT_CORE_HOST_SESSION_FAMILY_H_
#define GLOVEPORT_CORE_HOST_SESSION_FAMILY_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

class SessionFamily {
 public:
  // `template_bytes`: anonymous memory that every member has from the template.
  SessionFamily(const Limits& limits, std::uint64_t template_bytes)
      : limits_(limits), template_bytes_(template_bytes) {}

  enum class Member { kOriginal, kCopy };
  void Add(pid_t pid, Member member);
  void Remove(pid_t pid);

  // Whether one more copy of `pid` fits; kResourceExhausted says which limit stands against it. A copy shares
  // its pages with the original until one of them writes; it counts in full all the same, for that may come
  // to pass.
  Status CheckRoomForCopyOf(pid_t pid) const;

  // Growth of all members over the template. 0 where there is one member only: its own limits do.
  std::uint64_t SharedGrowthBytes() const;

 private:
  std::uint64_t GrowthOf(pid_t pid) const;
  std::uint64_t GrowthOfAll() const;  // with mutex_ held

  const Limits limits_;
  const std::uint64_t template_bytes_;
  mutable std::mutex mutex_;
  std::map<pid_t, Member> members_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SESSION_FAMILY_H_
