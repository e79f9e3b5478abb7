// Runs that repeat: the policy's seed and clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <vector>

#include "gloveport/core/wire/value_json.h"
#include "gloveport/policy/codec.h"
#include "gloveport/tests/core/host/session_fixture.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class SessionRepeatTest : public SessionFixture {
 protected:
  static CellResult RunAt(Session& session, std::string_view code, nanoseconds offset) {
    RunOptions options;
    options.inspect = InspectMode::kOff;
    options.clock_offset = offset;
    auto result = session.Run(code, options);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : CellResult();
  }
  // What both cells print in a session of its own.
  std::string Outputs(std::string_view members) {
    const auto session = Open(members);
    std::string first = RunAt(*session, kEverything, seconds(1)).out;
    return first + RunAt(*session, kEverything, seconds(3)).out;
  }

  static constexpr std::string_view kEverything = R"py(
import ctypes, datetime, os, random, secrets, sqlite3, tempfile, time, uuid
print({'alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'}, hash('text'))
print(uuid.uuid4(), os.urandom(20), os.getrandom(3), secrets.token_hex(), random.random(), random.Random().random())
print(random.SystemRandom().random(), tempfile.mktemp(dir=''))
buffer = ctypes.create_string_buffer(8)
print(ctypes.CDLL(None).getrandom(buffer, 8, 0), buffer.raw, ctypes.CDLL(None).getentropy(buffer, 8), buffer.raw)
print(time.time(), time.time_ns(), datetime.datetime.now(), datetime.datetime.utcnow(), datetime.date.today())
print(time.clock_gettime(time.CLOCK_REALTIME), time.gmtime(), ctypes.CDLL(None).time(None))
with sqlite3.connect(':memory:') as db:
    print(db.execute("select datetime('now'), strftime('%f', 'now')").fetchall())
try:
    import numpy, pandas
    print(numpy.random.random(), numpy.random.default_rng().random(), numpy.datetime64('now'))
    print(pandas.Timestamp.now(), pandas.DataFrame({'a': range(9)}).sample(3).index.tolist())
except ImportError as error:
    print(error)
)py";
};

TEST_F(SessionRepeatTest, SessionsOfTheSameSeedAndClockSayTheSame) {
  const std::string first = Outputs(R"("seed":7,"clock":"2031-05-06T07:08:09Z")");
  EXPECT_EQ(first, Outputs(R"("seed":7,"clock":"2031-05-06T07:08:09Z")"));
  EXPECT_THAT(first, HasSubstr("2031-05-06 07:08:10"));
  EXPECT_THAT(first, HasSubstr("('2031-05-06 07:08:12', '12.000')"));
}

TEST_F(SessionRepeatTest, AnotherSeedGivesAnotherRun) {
  constexpr std::string_view kRandom =
      "import os, random, uuid\n[hash('text'), os.urandom(8), random.random(), str(uuid.uuid4())]";
  std::vector<std::vector<std::string>> seen;
  for (const char* members : {R"("seed":1)", R"("seed":2)", R"("seed":1)"}) {
    const auto session = Open(members);
    const CellResult result = Run(*session, kRandom);
    ASSERT_EQ(result.outcome, Outcome::kOk);
    std::vector<std::string> parts;
    for (const Value& part : result.value.as_list()) parts.push_back(DumpJson(part));
    seen.push_back(parts);
  }
  EXPECT_EQ(seen[0], seen[2]);
  for (std::size_t i = 0; i < seen[0].size(); ++i) EXPECT_NE(seen[0][i], seen[1][i]) << i;
}

TEST_F(SessionRepeatTest, WithoutASeedSessionsDiffer) {
  constexpr std::string_view kRandom = "import os, random\nos.urandom(8), random.random()";
  EXPECT_NE(Run(*Open(), kRandom).repr, Run(*Open(), kRandom).repr);
}

TEST_F(SessionRepeatTest, TheOptionOfASessionSeedsAllOfIt) {
  std::vector<std::string> seen;
  for (const std::uint64_t seed : {~std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{5}}) {
    SessionOptions options;
    options.policy = ParsePolicy(R"({"extends":"open"})", "test").value();
    options.seed = seed;
    auto session = runtime().Open(std::move(options));
    ASSERT_TRUE(session) << session.error().message;
    seen.push_back(Run(**session, "import os\nhash('text'), os.urandom(8)").repr);
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_NE(seen[0], seen[2]);
}

TEST_F(SessionRepeatTest, SessionsOutliveTheTemplatesOfSeedsThatAreForgotten) {
  std::vector<std::unique_ptr<Session>> sessions;
  for (int seed = 1; seed <= 6; ++seed) sessions.push_back(Open("\"seed\":" + std::to_string(seed)));
  for (const auto& session : sessions) EXPECT_EQ(Run(*session, "1 + 1").repr, "2");
  const std::string first = Run(*sessions[0], "hash('text')").repr;
  EXPECT_EQ(Run(*Open(R"("seed":1)"), "hash('text')").repr, first);
}

TEST_F(SessionRepeatTest, TheClockGoesOnWithRealTimeBetweenCells) {
  const auto session = Open(R"("clock":"2000-01-01T00:00:00Z")");
  const CellResult first = Run(*session, "import time\nt = time.time(); time.sleep(0.02); t");
  const CellResult second = Run(*session, "time.time() - t");
  ASSERT_TRUE(first.clock_offset && second.clock_offset);
  EXPECT_GE(*second.clock_offset - *first.clock_offset, milliseconds(20));
  EXPECT_GE(second.value.as_double(), 0.02);
  EXPECT_LT(first.value.as_double(), 946684800 + 300);
}

TEST_F(SessionRepeatTest, WithinACellEachReadingIsAMicrosecondLaterAndMonotonicClocksAreReal) {
  const auto session = Open(R"("clock":"2000-01-01T00:00:00Z")");
  const CellResult result = Run(*session, R"(
import time
m = time.monotonic(); a = time.time_ns(); time.sleep(0.02); b = time.time_ns()
b - a, time.monotonic() - m >= 0.02
)");
  EXPECT_EQ(result.repr, "(1000, True)");
}

TEST_F(SessionRepeatTest, TheClockDoesNotGoBack) {
  const auto session = Open(R"("clock":"2000-01-01T00:00:00Z")");
  const CellResult first =
      RunAt(*session, "import time\nfor i in range(5000): time.time_ns()\ntime.time_ns()", seconds(0));
  const CellResult second = RunAt(*session, "time.time_ns()", nanoseconds(1));
  EXPECT_GT(second.value.as_int(), first.value.as_int());
}

TEST_F(SessionRepeatTest, TimedWaitsAreNotMadeLongerOrShorterByTheClock) {
  const auto session = Open(R"("clock":"1970-01-01T00:00:00Z","limits":{"wall_s":10})");
  const CellResult result = Run(*session, R"(
import asyncio, queue, threading, time
m = time.monotonic()
got = [threading.Event().wait(0.02), threading.Lock().acquire(timeout=0.02)]
c = threading.Condition()
with c: got.append(c.wait(0.02))
try: queue.Queue().get(timeout=0.02)
except queue.Empty: got.append('empty')
await asyncio.sleep(0.02)
got, 0.08 <= time.monotonic() - m < 5
)");
  EXPECT_EQ(result.repr, "([False, True, False, 'empty'], True)");
}

TEST_F(SessionRepeatTest, WithoutAClockItIsTheRealOne) {
  const auto session = Open();
  const CellResult result = Run(*session, "import time\ntime.time()");
  EXPECT_FALSE(result.clock_offset);
  EXPECT_NEAR(result.value.as_double(), static_cast<double>(std::time(nullptr)), 60);
}

}  // namespace
}  // namespace gloveport
