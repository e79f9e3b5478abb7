// A host is killed at any moment, under load: its audit log verifies up to its last whole record.
//
// GLOVEPORT_SOAK_KILLS says how often; scripts/test --full kills 1,000.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "gloveport/core/record/log_reader.h"
#include "gloveport/tests/support/temporary_folder.h"

#include "surroundings.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;

int WantedKills() {
  const char* wanted = std::getenv("GLOVEPORT_SOAK_KILLS");
  return wanted != nullptr ? std::atoi(wanted) : 40;
}

// Where a log ends, over all kills.
struct Ends {
  int open = 0;
  int torn = 0;
  int before_the_first_record = 0;
  std::uint64_t records = 0;
};

class KilledLogTest : public testing::Test {
 protected:
  KilledLogTest() {
    AdoptOrphans();
    EXPECT_TRUE(SigningKey::Generate(folder_ / "key"));
  }

  // Kills a host so long after its first cell; before it where `moment` is negative.
  void RunAndKill(const std::filesystem::path& log, milliseconds moment) {
    std::array<int, 2> pipe;
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const std::string key = folder_ / "key";
    const pid_t host = ::fork();
    if (host == 0) {
      ::dup2(pipe[1], 1);
      ::execl(RECORDING_HOST, "recording_host", log.c_str(), key.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(pipe[1]);
    pollfd heard{pipe[0], POLLIN, 0};
    if (moment.count() >= 0) {
      char c = 0;
      EXPECT_EQ(::poll(&heard, 1, 60'000), 1);
      EXPECT_EQ(::read(pipe[0], &c, 1), 1) << "the host ended by itself";
    }
    ::poll(nullptr, 0, static_cast<int>(std::abs(moment.count())));
    ::kill(host, SIGKILL);
    int status = 0;
    ::waitpid(host, &status, 0);
    ::close(pipe[0]);
    EXPECT_TRUE(WIFSIGNALED(status)) << "killed, and not gone before: " << status;
    EXPECT_TRUE(DescendantsShrinkTo(0, milliseconds(5000)));
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }

  // What is there, counted without the reader that is tested.
  void Verify(const std::filesystem::path& log, Ends& ends) {
    if (!std::filesystem::exists(log)) return (void)++ends.before_the_first_record;
    std::ifstream file(log, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto whole = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    const bool is_torn = !text.empty() && text.back() != '\n';
    const auto check = CheckLog(log);
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_EQ(check->end, is_torn ? LogEnd::kTorn : LogEnd::kOpen) << check->problem;
    EXPECT_EQ(check->records, whole);
    if (check->unchecked_signatures > 0) {
      const auto by_key = CheckLog(log, {.key = *SigningKey::Load(folder_ / "key.pub")});
      EXPECT_TRUE(by_key->holds()) << by_key->problem;
      EXPECT_EQ(by_key->signatures, check->unchecked_signatures);
    }
    if (whole == 0) ++ends.before_the_first_record;
    ++(is_torn ? ends.torn : ends.open);
    ends.records += whole;
  }

  const TemporaryFolder folder_{kOpenToAll};
};

TEST_F(KilledLogTest, EachLogVerifiesToItsLastWholeRecord) {
  std::minstd_rand random(11);
  Ends ends;
  const int wanted = WantedKills();
  ASSERT_GT(wanted, 0);
  for (int i = 0; i < wanted && !HasFailure(); ++i) {
    // One in eight while the host begins.
    const auto moment = milliseconds(i % 8 == 7 ? -static_cast<int>(1 + random() % 250) : random() % 120);
    SCOPED_TRACE("kill " + std::to_string(i) + " at " + std::to_string(moment.count()) + " ms");
    const auto log = folder_ / std::to_string(i);
    RunAndKill(log, moment);
    Verify(log, ends);
    std::filesystem::remove(log);
  }
  std::printf("%d kills: %d open ends, %d torn ends, %d before the first record, %llu records hold\n", wanted,
              ends.open, ends.torn, ends.before_the_first_record,
              static_cast<unsigned long long>(ends.records));
  EXPECT_GT(ends.records, 10u * static_cast<unsigned>(wanted)) << "a positive control: there was load";
}

}  // namespace
}  // namespace gloveport
