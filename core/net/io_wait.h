// IoWait: the patience of one exchange with a peer. Every blocking step of it waits here, so that one
// deadline and one stop token hold for the whole, from the resolving of the name to the last byte.
//
// Used by one thread; the stop may be requested from any.
#ifndef GLOVEPORT_CORE_NET_IO_WAIT_H_
#define GLOVEPORT_CORE_NET_IO_WAIT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

class IoWait {
 public:
  static Result<std::unique_ptr<IoWait>> Make(Deadline deadline, std::stop_token cancel);
  IoWait(const IoWait&) = delete;
  IoWait& operator=(const IoWait&) = delete;

  // Waits for `events` (POLLIN, POLLOUT) or an error condition on `fd`, no longer than `limit`. Returns false
  // when only the limit passed; kDeadlineExceeded when the deadline of the exchange did, kClosed when it was
  // cancelled.
  Result<bool> For(int fd, short events, Deadline limit = Deadline::Never());

  Status Check() const;  // the same two errors, without waiting

  // From now on, how long any one wait may last: beyond it kDeadlineExceeded.
  void set_max_silence(std::chrono::nanoseconds silence) { max_silence_ = silence; }

  // What is being done, as the messages say it: "connecting".
  void set_phase(std::string_view phase) { phase_ = phase; }
  Deadline deadline() const { return deadline_; }

 private:
  IoWait(Deadline deadline, std::stop_token cancel) : deadline_(deadline), cancel_(std::move(cancel)) {}

  Deadline deadline_;
  std::stop_token cancel_;
  UniqueFd wake_;  // an eventfd that a requested stop makes readable; none where no stop can be requested
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;  // goes before wake_
  std::string phase_ = "starting";
  std::chrono::nanoseconds max_silence_ = std::chrono::nanoseconds::max();
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_IO_WAIT_H_
