#include "gloveport/core/cli/figure_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

namespace fs = std::filesystem;

class FigureFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gloveport-figures-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Image Svg(std::string data) { return {.kind = ImageKind::kSvg, .data = std::move(data)}; }
  std::string Text(const std::string& name) { return ReadFile(folder_ / name).value_or("(cannot be read)"); }

  fs::path folder_;
};

TEST(FigurePrefix, IsMadeOfTheStemOfTheCodesFile) {
  EXPECT_EQ(FigurePrefix(""), "figure-");
  EXPECT_EQ(FigurePrefix("-"), "figure-");
  EXPECT_EQ(FigurePrefix("plot.py"), "plot-figure-");
  EXPECT_EQ(FigurePrefix("../a.b/my plot.v2.py"), "my plot.v2-figure-");
}

TEST_F(FigureFolderTest, CountsAndNamesByKind) {
  FigureFolder folder(folder_, "figure-");
  EXPECT_EQ(folder.Save(Svg("a")).value(), folder_ / "figure-1.svg");
  EXPECT_EQ(folder.Save({.kind = ImageKind::kPng, .data = "b"}).value(), folder_ / "figure-2.png");
  EXPECT_EQ(folder.Save({.kind = ImageKind::kJpeg, .data = ""}).value(), folder_ / "figure-3.jpg");
  EXPECT_EQ(Text("figure-1.svg"), "a");
  EXPECT_EQ(Text("figure-2.png"), "b");
  EXPECT_EQ(Text("figure-3.jpg"), "");
}

TEST_F(FigureFolderTest, NeitherWritesOverNorFollowsWhatIsThere) {
  ASSERT_TRUE(WriteFile(folder_ / "f-1.svg", "mine"));
  fs::create_symlink(folder_ / "target", folder_ / "f-2.svg");
  fs::create_directory(folder_ / "f-3.svg");
  EXPECT_EQ(FigureFolder(folder_, "f-").Save(Svg("new")).value(), folder_ / "f-4.svg");
  EXPECT_EQ(Text("f-1.svg"), "mine");
  EXPECT_FALSE(fs::exists(folder_ / "target"));
}

TEST_F(FigureFolderTest, StaysInTheFolderThatWasOpened) {
  FigureFolder folder(folder_ / "out", "f-");  // made, as it is missing
  fs::rename(folder_ / "out", folder_ / "moved");
  fs::create_directory(folder_ / "other");
  fs::create_directory_symlink(folder_ / "other", folder_ / "out");
  ASSERT_TRUE(folder.Save(Svg("a")));
  EXPECT_EQ(Text("moved/f-1.svg"), "a");
  EXPECT_TRUE(fs::is_empty(folder_ / "other"));
}

TEST_F(FigureFolderTest, WhatCannotBeOpenedIsSaid) {
  ASSERT_TRUE(WriteFile(folder_ / "file", ""));
  FigureFolder folder(folder_ / "file", "f-");
  ASSERT_FALSE(folder.opened());
  EXPECT_NE(folder.opened().error().message.find("/file: "), std::string::npos);
  EXPECT_FALSE(folder.Save(Svg("a")));
  EXPECT_TRUE(FigureFolder(folder_, "f-").opened());
}

TEST_F(FigureFolderTest, APrefixThatLeavesTheFolderDoesNotCreate) {
  FigureFolder folder(folder_, "missing/f-");
  const auto saved = folder.Save(Svg("a"));
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace gloveport
