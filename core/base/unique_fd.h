// UniqueFd: sole owner of a file descriptor; closes it when it goes. No raw owning descriptor crosses a
// function.
#ifndef GLOVEPORT_CORE_BASE_UNIQUE_FD_H_
#define GLOVEPORT_CORE_BASE_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace gloveport {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_BASE_UNIQUE_FD_H_
