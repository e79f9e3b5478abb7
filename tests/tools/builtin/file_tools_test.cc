#include "gloveport/tools/builtin/file_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/tests/support/temporary_folder.h"

#include "call_tool.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class FileTools : public testing::Test {
 protected:
  FileTools() {
    std::filesystem::create_directories(folder_ / "in/sub");
    std::filesystem::create_directories(folder_ / "out");
    Put("in/a.txt", "one\ntwo\nthree\n");
    Put("in/sub/b.csv", "x,y\n1,Two\n");
    Put("out/secret.txt", "two secret\n");
    options_.folders = {{"data", folder_ / "in"}};
  }
  void Put(const std::string& path, std::string_view text) { ASSERT_TRUE(WriteFile(folder_ / path, text)); }
  Tools Made() {
    auto tools = MakeFileTools(options_);
    EXPECT_TRUE(tools) << tools.error().message;
    return tools ? *tools : Tools();
  }
  std::string Read(std::string_view path) { return Said(Made(), "read_text", {{"path", path}}); }

  TemporaryFolder folder_;
  FileToolOptions options_;
};

TEST_F(FileTools, ReadAFileOrSomeOfItsLines) {
  EXPECT_EQ(Read("data/a.txt"), "'one\\ntwo\\nthree\\n'");
  const auto tools = Made();
  EXPECT_EQ(Said(tools, "read_text", {{"path", "data/a.txt"}, {"first_line", 2}}), "'two\\nthree\\n'");
  EXPECT_EQ(Said(tools, "read_text", {{"path", "data/a.txt"}, {"first_line", 2}, {"lines", 1}}), "'two\\n'");
  EXPECT_EQ(Said(tools, "read_text", {{"path", "data/a.txt"}, {"first_line", 9}}), "''");
  EXPECT_THAT(Said(tools, "read_text", {{"path", "data/a.txt"}, {"first_line", 0}}),
              HasSubstr("count from 1"));
}

TEST_F(FileTools, CountFoldersToo) {
  options_.max_files = 5;
  EXPECT_THAT(Said(Made(), "list_files", {}), HasSubstr("a.txt"));
  for (char name = 'a'; name < 'g'; ++name)
    std::filesystem::create_directory(folder_ / "in" / std::string(1, name));
  EXPECT_THAT(Said(Made(), "list_files", {}), HasSubstr("more than 5"));
}

TEST_F(FileTools, LeadNowhereElse) {
  std::filesystem::create_symlink(folder_ / "out/secret.txt", folder_ / "in/absolute");
  std::filesystem::create_symlink("../out/secret.txt", folder_ / "in/relative");
  std::filesystem::create_symlink("../out", folder_ / "in/folder");
  std::filesystem::create_symlink("a.txt", folder_ / "in/inside");
  ASSERT_EQ(::mkfifo((folder_ / "in/pipe").c_str(), 0600), 0);
  const std::string outside = (folder_ / "out/secret.txt").string();
  for (const std::string& path :
       {std::string("data/../out/secret.txt"), std::string("data/sub/../../out/secret.txt"), outside,
        "data/" + outside, std::string("data/absolute"), std::string("data/relative"),
        std::string("data/folder/secret.txt"), std::string("out/secret.txt"), std::string("data//etc/passwd"),
        std::string(".."), std::string(""), std::string("data"), std::string("data/pipe"),
        std::string("data/a.txt\0x", 12)}) {
    EXPECT_THAT(Read(path), StartsWith("error: ")) << path;
  }
  EXPECT_EQ(Read("data/inside"), Read("data/a.txt"));
  EXPECT_EQ(Read("data/sub/../a.txt"), Read("data/a.txt"));
}

TEST_F(FileTools, KeepToTheFolderThatWasGranted) {
  const auto tools = Made();
  std::filesystem::rename(folder_ / "in", folder_ / "before");
  std::filesystem::create_symlink("out", folder_ / "in");
  EXPECT_THAT(Said(tools, "read_text", {{"path", "data/secret.txt"}}), StartsWith("error: "));
  EXPECT_EQ(Said(tools, "read_text", {{"path", "data/a.txt"}, {"lines", 1}}), "'one\\n'");
}

TEST_F(FileTools, HoldTheirLimits) {
  options_.max_text_bytes = 8;
  options_.max_file_bytes = 20;
  Put("in/large.txt", std::string(30, 'x'));
  Put("in/binary", std::string_view("a\0b", 3));
  const auto tools = Made();
  EXPECT_THAT(Said(tools, "read_text", {{"path", "data/a.txt"}}), HasSubstr("read fewer lines"));
  EXPECT_EQ(Said(tools, "read_text", {{"path", "data/a.txt"}, {"lines", 2}}), "'one\\ntwo\\n'");
  EXPECT_THAT(Said(tools, "read_text", {{"path", "data/large.txt"}}), HasSubstr("more than the 20 bytes"));
  EXPECT_THAT(Said(tools, "read_text", {{"path", "data/binary"}}), HasSubstr("NUL"));
  EXPECT_THAT(Said(tools, "search_files", {{"pattern", "x"}}), HasSubstr("'complete': False"));
}

TEST_F(FileTools, ListByGlob) {
  std::filesystem::create_symlink(folder_ / "out", folder_ / "in/out");
  const auto tools = Made();
  EXPECT_EQ(Said(tools, "list_files", {}),
            "[{'path': 'data/a.txt', 'size_bytes': 14}, {'path': 'data/sub/b.csv', 'size_bytes': 10}]");
  for (const auto& [glob, found] :
       {std::pair("*.csv", true), std::pair("data/*/b.csv", true), std::pair("data/**/*.csv", true),
        std::pair("**/b.csv", true), std::pair("b.[c-d]sv", true), std::pair("b.[!c]sv", false),
        std::pair("data/*.csv", false), std::pair("*.tx", false), std::pair("?.csv", true),
        std::pair("b.csv?", false)}) {
    const std::string listed = Said(tools, "list_files", {{"glob", glob}, {"folder", "data/sub"}});
    EXPECT_EQ(listed.find("b.csv") != std::string::npos, found) << glob << listed;
  }
  EXPECT_THAT(Said(tools, "list_files", {{"folder", "data/none"}}), HasSubstr("there is no file"));
  EXPECT_THAT(Said(tools, "list_files", {{"folder", "../out"}}), HasSubstr("paths begin with one of data"));
}

TEST_F(FileTools, SearchFindsLines) {
  const auto tools = Made();
  EXPECT_EQ(Said(tools, "search_files", {{"pattern", "^two"}}),
            "{'matches': [{'path': 'data/a.txt', 'line': 2, 'text': 'two'}], 'files': 2, 'complete': True}");
  EXPECT_THAT(Said(tools, "search_files", {{"pattern", "two"}, {"ignore_case", true}, {"glob", "*.csv"}}),
              HasSubstr("'line': 2, 'text': '1,Two'}], 'files': 1"));
  EXPECT_THAT(Said(tools, "search_files", {{"pattern", "o"}, {"max_matches", 1}}),
              HasSubstr("'complete': False"));
  EXPECT_THAT(Said(tools, "search_files", {{"pattern", "o"}, {"folder", "data/a.txt"}}),
              HasSubstr("'files': 1"));
  EXPECT_THAT(Said(tools, "search_files", {{"pattern", "(?=x)"}}), HasSubstr("without lookaround"));
}

TEST_F(FileTools, AreMadeOnlyForFoldersThatAreThere) {
  options_.folders = {{"none", folder_ / "none"}};
  EXPECT_FALSE(MakeFileTools(options_));
  options_.folders = {{"a/b", folder_ / "in"}};
  EXPECT_FALSE(MakeFileTools(options_));
  options_.folders.clear();
  EXPECT_FALSE(MakeFileTools(options_));
}

}  // namespace
}  // namespace gloveport
