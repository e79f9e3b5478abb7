// LineWriter: the one writer of a stream of lines. Write never blocks: a thread of the writer's own hands the
// lines to the descriptor, so that a client that reads slowly cannot hold up a deadline.
//
// Thread-safe. The descriptor stays the caller's and is left in blocking mode: it may be shared with other
// programs. SIGPIPE must be ignored by the program.
#ifndef GLOVEPORT_CORE_SERVE_LINE_WRITER_H_
#define GLOVEPORT_CORE_SERVE_LINE_WRITER_H_

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

class LineWriter {
 public:
  // `on_failure` is called once, from the writer's thread, when the reader has gone or lags more than
  // `max_pending_bytes` behind; all later lines are dropped.
  static Result<std::unique_ptr<LineWriter>> Create(int fd, std::function<void()> on_failure,
                                                    std::size_t max_pending_bytes = 512u << 20);
  ~LineWriter();  // drops what is not written
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  void Write(std::string_view line);  // without its line end
  // Waits until all lines are with the descriptor. False when the writer failed or the deadline passed.
  bool Flush(Deadline deadline);
  bool failed() const;
  bool lags() const;  // it failed since the reader was too far behind

 private:
  LineWriter(int fd, UniqueFd wake, std::function<void()> on_failure, std::size_t max_pending_bytes);
  void Loop();
  bool WriteSome();  // false when the reader has gone
  void Fail();
  void Wake();

  const int fd_;
  const UniqueFd wake_;
  const std::function<void()> on_failure_;
  const std::size_t max_pending_bytes_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string pending_;   // lines not yet taken by the thread
  bool writing_ = false;  // the thread holds lines that are not yet written
  bool failed_ = false;
  bool lags_ = false;
  bool stopping_ = false;

  std::string current_;  // the thread's own
  std::size_t written_ = 0;
  std::thread thread_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_LINE_WRITER_H_
