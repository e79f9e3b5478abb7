#include "gloveport/core/host/work_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/host/scratch_folder.h"

namespace gloveport {
namespace {

class WorkFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::Make();
    ASSERT_TRUE(made);
    scratch_.emplace(std::move(*made));
    root_ = scratch_->path();
    std::filesystem::create_directory(root_ + "/work");
    ASSERT_TRUE(WriteFile(root_ + "/secret", "secret"));
    fd_.reset(::open((root_ + "/work").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  WorkFolder folder() { return WorkFolder(fd_.get()); }
  std::string At(std::string_view name) { return root_ + "/work/" + std::string(name); }

  std::optional<ScratchFolder> scratch_;
  std::string root_;
  UniqueFd fd_;
};

TEST_F(WorkFolderTest, FilesGoInAndOut) {
  ASSERT_TRUE(folder().Put("a/b/c.txt", AsBytes("hello")));
  ASSERT_TRUE(folder().Put("a/b/c.txt", AsBytes("hi")));  // shorter: nothing of the old is left
  EXPECT_EQ(AsText(*folder().Get("a/b/c.txt", 100)), "hi");
  ASSERT_TRUE(folder().Put("top", AsBytes("")));
  const auto files = folder().List();
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].path, "a/b/c.txt");
  EXPECT_EQ((*files)[0].size_bytes, 2u);
  ASSERT_TRUE(folder().Remove("a/b/c.txt"));
  EXPECT_EQ(folder().Get("a/b/c.txt", 100).error().code, ErrorCode::kNotFound);
}

TEST_F(WorkFolderTest, PathsThatLeadOutAreRefused) {
  std::filesystem::create_symlink("../secret", At("link"));
  std::filesystem::create_directory_symlink("..", At("up"));
  for (const char* path :
       {"../secret", "/etc/passwd", "a/../../secret", "link", "up/secret", "", "..", "./../secret"}) {
    EXPECT_FALSE(folder().Get(path, 100)) << path;
    EXPECT_FALSE(folder().Put(path, AsBytes("x"))) << path;
  }
  EXPECT_FALSE(folder().Remove("up/secret"));
  EXPECT_EQ(*ReadFile(root_ + "/secret"), "secret");
  ASSERT_TRUE(folder().Remove("link"));  // the link itself may go
  EXPECT_EQ(*ReadFile(root_ + "/secret"), "secret");
}

TEST_F(WorkFolderTest, OnlyRegularFilesAreOpened) {
  ASSERT_EQ(::mkfifo(At("fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(At("folder"));
  for (const char* path : {"fifo", "folder"})
    EXPECT_FALSE(folder().Get(path, 100)) << path;  // and none blocks
  EXPECT_FALSE(folder().Put("fifo", AsBytes("x")));
  EXPECT_TRUE(folder().List()->empty());
}

TEST_F(WorkFolderTest, ASparseFileCostsNoMoreThanTheLimit) {
  UniqueFd file(::open(At("big").c_str(), O_CREAT | O_WRONLY, 0600));
  ASSERT_EQ(::ftruncate(file.get(), off_t{1} << 40), 0);
  const auto data = folder().Get("big", 1 << 20);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, ErrorCode::kResourceExhausted);
}

}  // namespace
}  // namespace gloveport
