#include "gloveport/core/host/scratch_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace gloveport {
namespace {

namespace fs = std::filesystem;

class ScratchFolderTest : public testing::Test {
 protected:
  ScratchFolderTest() {
    std::string name = (fs::temp_directory_path() / "scratch-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
    if (const char* before = ::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", base_.c_str(), 1);
  }
  ~ScratchFolderTest() override {
    before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1);
    fs::remove_all(base_);
  }

  std::size_t Entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(base_), fs::directory_iterator()));
  }

  // A host that makes a folder with something in it and is killed. Returns the folder.
  static fs::path FolderOfAKilledHost() {
    std::array<int, 2> pipe;
    EXPECT_EQ(::pipe(pipe.data()), 0);
    const pid_t host = ::fork();
    if (host == 0) {
      auto folder = ScratchFolder::Make();
      if (folder) {
        std::ofstream(folder->path() + "/file") << "text";
        fs::create_symlink("/etc", folder->path() + "/link");
        (void)!::write(pipe[1], folder->path().data(), folder->path().size());
      }
      ::raise(SIGKILL);
    }
    ::waitpid(host, nullptr, 0);
    std::string path(4096, '\0');
    path.resize(static_cast<std::size_t>(::read(pipe[0], path.data(), path.size())));
    ::close(pipe[0]);
    ::close(pipe[1]);
    return path;
  }

  fs::path base_;
  std::string before_;
};

TEST_F(ScratchFolderTest, GoesWithAllThatIsInIt) {
  {
    auto folder = ScratchFolder::Make();
    ASSERT_TRUE(folder) << folder.error().message;
    EXPECT_EQ(fs::status(folder->path()).permissions(), fs::perms::owner_all);
    fs::create_directories(fs::path(folder->path()) / "a/b");
    const ScratchFolder moved = std::move(*folder);
    EXPECT_TRUE(fs::exists(moved.path()));
  }
  EXPECT_EQ(Entries(), 0u);
}

TEST_F(ScratchFolderTest, WhatAKilledHostLeftIsSwept) {
  const fs::path left = FolderOfAKilledHost();
  ASSERT_TRUE(fs::exists(left / "file"));
  ScratchFolder::SweepAbandoned();
  EXPECT_EQ(Entries(), 0u);
  EXPECT_TRUE(fs::exists("/etc/passwd")) << "a link was followed";
}

TEST_F(ScratchFolderTest, WhatALiveHostUsesStays) {
  auto folder = ScratchFolder::Make();
  ASSERT_TRUE(folder);
  const pid_t other = ::fork();
  if (other == 0) {
    ScratchFolder::SweepAbandoned();
    ::_exit(0);
  }
  ::waitpid(other, nullptr, 0);
  ScratchFolder::SweepAbandoned();
  EXPECT_TRUE(fs::exists(folder->path()));
}

TEST_F(ScratchFolderTest, NothingElseIsSwept) {
  for (const char* name : {"gloveport-keepit", "gloveport-", "other-abcdef"})
    fs::create_directory(base_ / name);
  std::ofstream(base_ / "other-abcdef.lock") << "";
  std::ofstream(base_ / "gloveport-abcdefg.lock") << "";
  fs::create_directory(base_ / "gloveport-linked");
  std::ofstream(base_ / "target") << "";
  fs::create_symlink(base_ / "target", base_ / "gloveport-linked.lock");
  const std::size_t before = Entries();
  ScratchFolder::SweepAbandoned();
  EXPECT_EQ(Entries(), before);
}

TEST_F(ScratchFolderTest, AFolderThatModelCodeClosedGoesToo) {
  {
    auto folder = ScratchFolder::Make();
    ASSERT_TRUE(folder);
    const fs::path inner = fs::path(folder->path()) / "inner/most";
    fs::create_directories(inner);
    std::ofstream(inner / "file") << "text";
    fs::permissions(inner, fs::perms::none);
    fs::permissions(inner.parent_path(), fs::perms::none);
  }
  EXPECT_EQ(Entries(), 0u);
}

TEST_F(ScratchFolderTest, ABaseThatCannotBeWrittenIsNamed) {
  ::setenv("TMPDIR", "/proc/self", 1);
  const auto folder = ScratchFolder::Make();
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("/proc/self/gloveport-"), std::string::npos);
}

}  // namespace
}  // namespace gloveport
