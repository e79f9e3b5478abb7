#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/host/scratch_folder.h"
#include "gloveport/policy/codec.h"
#include "gloveport/policy/presets.h"

#include "session_fixture.h"

namespace gloveport {
namespace {

class SessionFilesTest : public SessionFixture {};

TEST_F(SessionFilesTest, TheWorkFolderIsSharedWithTheHost) {
  auto session = Open();
  ASSERT_TRUE(session->PutFile("in/data.txt", AsBytes("from the host")));
  EXPECT_EQ(Run(*session, "open('in/data.txt').read()").value, Value("from the host"));
  Run(*session, "open('out.txt', 'w').write('from the cell')");
  EXPECT_EQ(AsText(*session->GetFile("out.txt")), "from the cell");
  EXPECT_EQ(session->ListFiles()->size(), 2u);
  ASSERT_TRUE(session->RemoveFile("out.txt"));
  EXPECT_EQ(Run(*session, "import os; os.path.exists('out.txt')").value, Value(false));
}

TEST_F(SessionFilesTest, InsideItIsAlwaysWorkdir) {
  auto session = Open();
  EXPECT_EQ(Run(*session, "import os; os.getcwd(), os.path.expanduser('~')").repr,
            "('/workdir', '/workdir')");
}

TEST_F(SessionFilesTest, AFolderOfTheHostIsWrittenThrough) {
  auto folder = ScratchFolder::Make();
  ASSERT_TRUE(folder);
  ASSERT_TRUE(WriteFile(folder->path() + "/there.txt", "before"));
  SessionOptions options;
  options.policy = *PresetPolicy("open");
  options.workdir = folder->path();
  auto session = runtime().Open(options);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(Run(**session, "import os; os.getcwd(), open('there.txt').read()").repr,
            "('/workdir', 'before')");
  const CellResult result = Run(**session, "open('new.txt', 'w').write('x')");
  EXPECT_EQ(result.outcome, Outcome::kOk) << result.error->message;
  struct stat info {};
  ASSERT_EQ(::stat((folder->path() + "/new.txt").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, ::geteuid());  // on disk it belongs to the folder's owner, whoever the session is
}

TEST_F(SessionFilesTest, AFolderThatIsNotThereIsAnError) {
  SessionOptions options;
  options.policy = *PresetPolicy("open");
  options.workdir = "/no/such/folder";
  auto session = runtime().Open(options);
  ASSERT_FALSE(session);
  EXPECT_NE(session.error().message.find("/no/such/folder"), std::string::npos);
}

TEST_F(SessionFilesTest, GrantedPathsAreReadableAndNothingElseExists) {
  auto folder = ScratchFolder::Make();
  ASSERT_TRUE(folder);
  ASSERT_EQ(::chmod(folder->path().c_str(), 0755), 0);
  ASSERT_TRUE(WriteFile(folder->path() + "/granted.txt", "granted"));
  ASSERT_EQ(::chmod((folder->path() + "/granted.txt").c_str(), 0644), 0);
  auto session = Open("\"files\":{\"read\":[\"" + folder->path() + "\"]}");
  const std::string path = folder->path() + "/granted.txt";
  EXPECT_EQ(Run(*session, "open('" + path + "').read()").value, Value("granted"));
  EXPECT_EQ(Run(*session, "open('" + path + "', 'w')").outcome, Outcome::kError);
  EXPECT_EQ(Run(*session, "open('" + folder->path() + "/new', 'w')").outcome, Outcome::kError);
  EXPECT_EQ(Run(*session,
                "import os\n[p for p in ('/home', '/root', '/proc', '/sys', '/etc/shadow', '/var') if "
                "os.path.lexists(p)]")
                .repr,
            "[]");
}

TEST_F(SessionFilesTest, AFolderOfTheHostGrowsNoFurtherThanThePolicySays) {
  char path[] = "/tmp/gloveport-grow-XXXXXX";
  ASSERT_NE(::mkdtemp(path), nullptr);
  std::filesystem::permissions(path, std::filesystem::perms::all);
  std::ofstream(std::string(path) + "/before") << std::string(6 << 20, 'x');
  SessionOptions options;
  options.policy = *ParsePolicy(R"({"extends":"open","limits":{"disk_mib":4,"wall_s":60}})", "test");
  options.workdir = path;
  auto session = runtime().Open(std::move(options));
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(Run(**session, "open('a', 'wb').write(bytes(3 << 20))").outcome, Outcome::kOk);
  const CellResult many =
      Run(**session,
          "import time\nfor i in range(1000):\n  open(f'f{i}', 'wb').write(bytes(1 << 20))\n"
          "  time.sleep(0.05)");
  EXPECT_EQ(many.outcome, Outcome::kOutputLimit);
  ASSERT_TRUE(many.limit);
  EXPECT_EQ(many.limit->limit, "disk");
  EXPECT_GT(many.limit->used, 4);
  EXPECT_LT(many.limit->used, 40);
  EXPECT_EQ(Run(**session, "1").outcome, Outcome::kOutputLimit) << "what is there stays too much";
  EXPECT_TRUE((*session)->RemoveFile("a"));
  session->reset();
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace gloveport
