// Landlock as kernels of every ABI so far have it: what is refused, what is allowed, and what an old ABI
// leaves open (the filter of the degraded mode refuses that).
#include "gloveport/policy/landlock.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace gloveport {
namespace {

namespace fs = std::filesystem;

constexpr int kSince1 = 1;
constexpr int kSince3 = 3;  // truncate
constexpr int kSince4 = 4;  // TCP

struct Act {
  const char* what;
  std::function<bool()> succeeds;
  int refused_since;  // 0: allowed
};

bool Opens(const fs::path& path, int flags) { return ::open(path.c_str(), flags | O_CLOEXEC, 0600) >= 0; }

// Reaches the kernel's network code: refused there for want of a listener, not by Landlock.
bool Connects() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(1);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 || errno != EACCES;
}

std::vector<Act> ActsIn(const fs::path& folder) {
  return {
      {"read what is read-only", [=] { return Opens(folder / "ro/file", O_RDONLY); }, 0},
      {"write what is read-only", [=] { return Opens(folder / "ro/file", O_WRONLY); }, kSince1},
      {"make a file in what is read-only", [=] { return Opens(folder / "ro/new", O_WRONLY | O_CREAT); },
       kSince1},
      {"make a file in the work folder", [=] { return Opens(folder / "rw/new", O_RDWR | O_CREAT); }, 0},
      {"remove it", [=] { return ::unlink((folder / "rw/new").c_str()) == 0; }, 0},
      {"read what is elsewhere", [=] { return Opens(folder / "other/file", O_RDONLY); }, kSince1},
      {"list what is elsewhere", [=] { return Opens(folder / "other", O_RDONLY | O_DIRECTORY); }, kSince1},
      {"move a file out",
       [=] { return ::rename((folder / "rw/file").c_str(), (folder / "other/moved").c_str()) == 0; },
       kSince1},
      {"link a file in",
       [=] { return ::link((folder / "other/file").c_str(), (folder / "rw/linked").c_str()) == 0; }, kSince1},
      {"cut a file elsewhere", [=] { return ::truncate((folder / "other/file").c_str(), 1) == 0; }, kSince3},
      {"connect over TCP", Connects, kSince4},
  };
}

// In a process of its own: 0, or 1 + the first act that went otherwise; 100 where it could not be confined.
int TryAll(const fs::path& folder, int abi) {
  const LandlockRules rules{{folder / "ro"}, {folder / "rw"}};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !ApplyLandlock(rules, abi)) return 100;
  int number = 1;
  for (const Act& act : ActsIn(folder)) {
    const bool refused = act.refused_since != 0 && abi >= act.refused_since;
    if (act.succeeds() == refused) return number;
    ++number;
  }
  return 0;
}

TEST(LandlockTest, EachAbiRefusesWhatItKnowsAndAllowsTheRest) {
  const int newest = LandlockAbi();
  if (newest == 0) GTEST_SKIP() << "this kernel has no Landlock";
  for (int abi = 1; abi <= newest; ++abi) {
    char name[] = "/tmp/landlock-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    const fs::path folder = name;
    for (const char* each : {"ro", "rw", "other"}) {
      fs::create_directory(folder / each);
      std::ofstream(folder / each / "file") << "some text";
    }
    const pid_t child = ::fork();
    if (child == 0) ::_exit(TryAll(folder, abi));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const int failed = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const auto acts = ActsIn(folder);
    EXPECT_EQ(failed, 0) << "ABI " << abi << ": "
                         << (failed > 0 && failed <= static_cast<int>(acts.size())
                                 ? acts[static_cast<std::size_t>(failed - 1)].what
                                 : "could not be confined");
    fs::remove_all(folder);
  }
}

}  // namespace
}  // namespace gloveport
