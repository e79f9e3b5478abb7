// What a session has of its own although it is a fork of a template.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gloveport/tests/core/host/session_fixture.h"
#include "gloveport/tests/support/temporary_folder.h"

namespace gloveport {
namespace {

constexpr std::string_view kStartsAfresh = R"py(
import os, random, sys, threading
print(threading.main_thread().native_id == threading.get_native_id(), threading.main_thread() is threading.current_thread())
with threading.Lock():
    t = threading.Thread(target=print, args=("from a thread",))
    t.start()
    t.join()
print(sys.stdout.seekable(), sys.stderr.seekable(), sys.stdout.isatty(), sys.stdin.read() == "")
)py";

class SessionForkTest : public SessionFixture {};

TEST_F(SessionForkTest, ThreadAndStreamsAreItsOwn) {
  const auto session = Open();
  const CellResult result = Run(*session, kStartsAfresh);
  EXPECT_EQ(result.out, "True True\nfrom a thread\nFalse False False True\n");
}

TEST_F(SessionForkTest, RandomNumbersDiffer) {
  constexpr std::string_view kDraw = "import random, uuid; (random.random(), uuid.uuid4().hex)";
  const auto one = Open();
  const auto other = Open();
  EXPECT_NE(Run(*one, kDraw).repr, Run(*other, kDraw).repr);
}

// Modules of the standard library are known to need no hooks; one of somebody else's may have asked for them.
TEST_F(SessionForkTest, HooksOfPreloadedPackagesRun) {
  constexpr auto kOpen = std::filesystem::perms::owner_all | std::filesystem::perms::group_read |
                         std::filesystem::perms::group_exec | std::filesystem::perms::others_read |
                         std::filesystem::perms::others_exec;
  const TemporaryFolder folder(kOpen);
  std::ofstream(folder / "hooked.py") << "import os\n"
                                         "seen = []\n"
                                         "os.register_at_fork(before=lambda: seen.append('before'),\n"
                                         "                    after_in_child=lambda: seen.append('child'))\n";
  std::filesystem::permissions(folder / "hooked.py", kOpen);
  const std::string members =
      fmt::format(R"("packages":["{}"],"preload":["hooked"])", folder.path().string());
  const auto session = Open(members);
  EXPECT_EQ(Run(*session, "import hooked; hooked.seen").repr, "['before', 'child']");
  EXPECT_EQ(Run(*session, kStartsAfresh).out, "True True\nfrom a thread\nFalse False False True\n");
}

}  // namespace
}  // namespace gloveport
