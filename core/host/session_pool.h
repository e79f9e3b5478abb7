// SessionPool: confined sessions that stand ready, forked ahead by a thread of its own, so that opening one
// costs a look into a queue. Each ready session is used once; none that ran model code ever comes back.
#ifndef GLOVEPORT_CORE_HOST_SESSION_POOL_H_
#define GLOVEPORT_CORE_HOST_SESSION_POOL_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/session_process.h"
#include "gloveport/core/host/template_pool.h"

namespace gloveport {

class SessionPool {
 public:
  // `min_ready`: how many sessions to keep ready per policy image that has been used; 0: none.
  SessionPool(TemplatePool& templates, std::size_t min_ready);
  ~SessionPool();
  SessionPool(const SessionPool&) = delete;
  SessionPool& operator=(const SessionPool&) = delete;

  // A ready session, or one forked now. With a seed always forked now: the seed is set at the fork.
  // Thread-safe.
  Result<std::unique_ptr<SessionProcess>> Take(const TemplateOptions& options,
                                               std::optional<std::uint64_t> seed);

  // Ends a process, later: nobody waits for it.
  void Discard(std::unique_ptr<SessionProcess> process);

  TemplatePool& templates() { return templates_; }

 private:
  struct Image {
    TemplateOptions options;
    std::deque<std::unique_ptr<SessionProcess>> ready;
    bool works = false;  // the last start succeeded: an image that cannot start is not tried again unasked
  };

  std::unique_ptr<SessionProcess> TakeReady(const TemplateOptions& options);
  Result<std::unique_ptr<SessionProcess>> StartNow(const TemplateOptions& options,
                                                   std::optional<std::uint64_t> seed);
  void MarkWorking(const TemplateOptions& options);
  void Refill();
  void Bury();
  Image* Find(const TemplateOptions& options);
  Image* FindWanting();

  TemplatePool& templates_;
  const std::size_t min_ready_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::unique_ptr<SessionProcess>> discarded_;
  std::condition_variable discarding_;
  std::list<Image> images_;  // few: found by comparing, which is far cheaper than to write a policy down
  Deadline quiet_until_ = Deadline::Never();  // after the last Take
  bool stopping_ = false;
  std::thread thread_;
  std::thread undertaker_;  // started with the first process to end
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SESSION_POOL_H_
