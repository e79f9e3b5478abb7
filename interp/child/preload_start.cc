// gloveport-interp where the distribution's own Python program has the faster interpreter: becomes that
// program, with the child preloaded, which takes over before Python's main (preload_entry.cc). Descriptors
// and environment stay as the host made them.

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

// Empty where the kernel does not tell.
std::string OwnFolder() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0) return "";
  const std::string self(path, static_cast<std::size_t>(size));
  return self.substr(0, self.rfind('/'));
}

}  // namespace

int main() {
  const std::string child = OwnFolder() + "/" GLOVEPORT_PRELOAD_NAME;
  // Named by its descriptor: the loader takes a list, in which blanks and colons of a path would separate. It
  // is closed with all others once it has been loaded.
  const int fd = ::open(child.c_str(), O_RDONLY);
  if (fd < 0) {
    std::fprintf(stderr, "gloveport-interp: cannot open %s, which belongs beside it: %s\n", child.c_str(),
                 std::strerror(errno));
    return 1;
  }
  ::setenv("LD_PRELOAD", ("/proc/self/fd/" + std::to_string(fd)).c_str(), 1);
  // Else every session would look up anew what its template has not yet called.
  ::setenv("LD_BIND_NOW", "1", 1);
  // What Python would do if it were not taken over: fail.
  ::execl(GLOVEPORT_PYTHON_PROGRAM, "gloveport-interp", "-I", "-S", "-c",
          "raise SystemExit('gloveport-interp: the preloaded child did not take over')", nullptr);
  std::perror("gloveport-interp: cannot start " GLOVEPORT_PYTHON_PROGRAM);
  return 1;
}
