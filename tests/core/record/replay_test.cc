// Logs of real sessions run again: the same comes out, and what does not is told.
#include "gloveport/core/record/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "gloveport/core/record/log_reader.h"

#include "recorded_sessions.h"
#include "temporary_log.h"

namespace gloveport {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr const char* kRepeatable = R"({"extends":"open","seed":7,"clock":"2031-05-06T07:08:09Z"})";

ApprovalDecision DecisionOf(bool allowed, std::string by) {
  ApprovalDecision decision;
  decision.allowed = allowed;
  decision.by = std::move(by);
  return decision;
}

class ReplayTest : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "log"; }
  std::vector<Json> Records() {
    auto records = ReadLog(path());
    EXPECT_TRUE(records) << records.error().message;
    return *records;
  }
  ReplayReport Again(std::shared_ptr<const ToolRegistry> live = nullptr) {
    auto report = Replay(Records(), {.live_tools = std::move(live), .runtime = {.min_ready = 0}});
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : ReplayReport();
  }
  void ExpectIdentical(const ReplayReport& report) {
    EXPECT_THAT(report.divergences, IsEmpty()) << DumpJson(ToJson(report));
    EXPECT_THAT(report.gaps, IsEmpty()) << DumpJson(ToJson(report));
  }
  static void RunAll(Session& session, std::initializer_list<const char*> cells,
                     InspectMode inspect = InspectMode::kOff) {
    for (const char* code : cells) {
      const auto result = session.Run(code, {.inspect = inspect});
      EXPECT_TRUE(result) << result.error().message;
      EXPECT_FALSE(result->error) << code << ": " << result->error->message;
    }
  }
  TemporaryFolder folder_;
};

TEST_F(ReplayTest, ALittleOfEverythingComesOutTheSame) {
  RecordALittleOfEverything(path());
  const ReplayReport report = Again();
  ExpectIdentical(report);
  EXPECT_EQ(report.sessions, 1u);
  EXPECT_EQ(report.cells, 9u);
}

// `count()`: a stream of 200 numbers; `show()`: a display.
std::shared_ptr<ToolRegistry> StreamingTools() {
  auto tools = std::make_shared<ToolRegistry>();
  EXPECT_TRUE(tools->Add("count", "", [] {
    return ToolStream<std::int64_t>(
        [at = std::int64_t{0}](CallContext&) mutable -> Result<std::optional<std::int64_t>> {
          return at < 200 ? std::optional(at++) : std::nullopt;
        });
  }));
  EXPECT_TRUE(
      tools->Add("show", "", [](CallContext& context) { context.Display("text/html", Value("<b>x</b>")); }));
  return tools;
}

TEST_F(ReplayTest, StreamsAndDisplaysOfToolsComeOutTheSame) {
  {
    Recording recording(path());
    const auto session = recording.Open(kRepeatable, StreamingTools());
    RunAll(*session, {"sum(count())", "show()"});
  }
  const ReplayReport report = Again();
  ExpectIdentical(report);
  EXPECT_EQ(report.cells, 2u);
  ExpectIdentical(Again(StreamingTools()));
}

// What differs from run to run without a seed and a clock.
constexpr std::initializer_list<const char*> kOfChance = {
    "import datetime, os, random, secrets, threading, time, uuid",
    "print(time.time(), time.time_ns(), datetime.datetime.now(), datetime.date.today())",
    "print({'alpha', 'beta', 'gamma', 'delta', 'epsilon'}, hash('text'))",
    "print(uuid.uuid4(), os.urandom(8), secrets.token_hex(), random.random(), random.sample(range(99), 5))",
    R"(
lock, numbers = threading.Lock(), []
def work(n):
    with lock: numbers.append((n, random.Random(n).random(), uuid.UUID(int=n)))
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(numbers), len({thread.ident for thread in threads}) > 0)
)",
    R"(
try:
    import numpy, pandas
    print(numpy.random.random(3), numpy.random.default_rng().integers(0, 99, 5), numpy.datetime64('now'))
    print(pandas.Timestamp.now(), pandas.DataFrame({'a': range(9)}).sample(3).index.tolist())
except ImportError as error:
    print(error)
)",
    "random.random(), time.time(), str(uuid.uuid4())",
};

TEST_F(ReplayTest, UnderASeedAndAClockChanceAndTimeRepeat) {
  {
    Recording recording(path());
    RunAll(*recording.Open(kRepeatable), kOfChance);
  }
  const ReplayReport report = Again();
  ExpectIdentical(report);
  EXPECT_EQ(report.cells, kOfChance.size());
}

// The twin: without them the same cells differ, and each difference is told.
TEST_F(ReplayTest, WithoutASeedAndAClockTheyDiffer) {
  {
    Recording recording(path());
    RunAll(*recording.Open(R"({"extends":"open"})"), kOfChance);
  }
  const ReplayReport report = Again();
  std::set<std::int64_t> cells;
  for (const Divergence& divergence : report.divergences) cells.insert(divergence.cell);
  for (const std::int64_t cell : {1, 2, 3, 6}) EXPECT_TRUE(cells.contains(cell)) << cell;
  EXPECT_FALSE(cells.contains(0));
  EXPECT_FALSE(cells.contains(4)) << "threads that are joined and sorted need no seed";
}

TEST_F(ReplayTest, ToolsAnswerFromTheRecordOrLive) {
  {
    Recording recording(path());
    const auto session = recording.Open(kRepeatable, LookupTools(100));
    RunAll(*session, {"lookup('abc') + lookup('abc')",
                      "try: lookup('none')\nexcept Exception as error: print(type(error).__name__, error)",
                      "lookup('abc')"});
  }
  ExpectIdentical(Again());
  ExpectIdentical(Again(LookupTools(100)));
  const ReplayReport changed = Again(LookupTools(200));
  EXPECT_THAT(changed.divergences,
              ElementsAre(AllOf(Field(&Divergence::cell, 0), Field(&Divergence::what, "value")),
                          AllOf(Field(&Divergence::cell, 2), Field(&Divergence::what, "value"))))
      << DumpJson(ToJson(changed));
}

TEST_F(ReplayTest, AnAnswerThatChangesFromCallToCallIsRepeatedInItsOrder) {
  auto tools = std::make_shared<ToolRegistry>();
  std::int64_t count = 0;
  ASSERT_TRUE(tools->Add("next", "Counts.", [&] { return ++count; }));
  {
    Recording recording(path());
    RunAll(*recording.Open(kRepeatable, tools), {"[next(), next(), next()]", "next()"});
  }
  ExpectIdentical(Again());
  EXPECT_EQ(count, 4) << "nobody called it again";
}

// A log that was changed and computed anew stands for another run of the same cells.
TEST_F(ReplayTest, EachKindOfDifferenceIsTold) {
  {
    Recording recording(path());
    RunAll(*recording.Open(kRepeatable, LookupTools(0)), {"print('x'); lookup('abc')"});
  }
  const auto changed = [&](const char* pointer, const Json& value) {
    std::vector<Json> records = Records();
    for (Json& record : records) {
      if (record["kind"] == "cell_end") record[Json::json_pointer(pointer)] = value;
    }
    const auto report = Replay(records, {.runtime = {.min_ready = 0}});
    std::vector<std::string> what;
    for (const Divergence& divergence : report->divergences) what.push_back(divergence.what);
    return what;
  };
  EXPECT_THAT(changed("/outcome", "error"), ElementsAre("outcome"));
  EXPECT_THAT(changed("/state", "lost"), ElementsAre("state"));
  EXPECT_THAT(changed("/value/sha256", "0"), ElementsAre("value"));
  EXPECT_THAT(changed("/stdout/sha256", "0"), ElementsAre("stdout"));
  EXPECT_THAT(changed("/stderr/bytes", 1), ElementsAre("stderr"));
  EXPECT_THAT(changed("/error", {{"type", "ValueError"}}), ElementsAre("error"));
  EXPECT_THAT(changed("/final_answer", {{"sha256", "0"}}), ElementsAre("final_answer"));
  EXPECT_THAT(changed("/usage/wall_s", 99), IsEmpty()) << "how long it takes is the machine's";
}

TEST_F(ReplayTest, FilesAreComparedAtTheEnd) {
  {
    Recording recording(path());
    const auto session = recording.Open(kRepeatable);
    const std::string_view text = "1,2";
    ASSERT_TRUE(session->PutFile("in.csv", std::as_bytes(std::span(text))));
    ASSERT_TRUE(session->PutFile("old.csv", std::as_bytes(std::span(text))));
    ASSERT_TRUE(session->RemoveFile("old.csv"));
    RunAll(*session, {"open('out.csv', 'w').write(open('in.csv').read() * 2); None"});
  }
  ExpectIdentical(Again());
  std::vector<Json> records = Records();
  for (Json& record : records) {
    if (record["kind"] == "files") record["files"][0]["sha256"] = std::string(64, '0');
  }
  const auto report = Replay(records, {.runtime = {.min_ready = 0}});
  ASSERT_TRUE(report);
  EXPECT_THAT(report->divergences, ElementsAre(Field(&Divergence::what, "files")));
}

TEST_F(ReplayTest, BranchesCheckpointsAndRollbacksAreRepeated) {
  {
    Recording recording(path());
    const auto session = recording.Open(kRepeatable, LookupTools(0));
    RunAll(*session, {"x = lookup('ab')"});
    const auto first = session->Checkpoint();
    ASSERT_TRUE(first);
    RunAll(*session, {"x += 1"});
    auto branches = session->Branch(2);
    ASSERT_TRUE(branches) << branches.error().message;
    RunAll(*(*branches)[0], {"x *= 10; x"});
    RunAll(*(*branches)[1], {"x = lookup('abcd'); x"});
    ASSERT_TRUE(session->Rollback(*first));
    RunAll(*session, {"x"});
    ASSERT_TRUE(session->Forget(*first));
  }
  const ReplayReport report = Again();
  ExpectIdentical(report);
  EXPECT_EQ(report.sessions, 3u);
}

TEST_F(ReplayTest, ACellThatLostItsProcessIsRepeatedWithTheStateBefore) {
  {
    Recording recording(path());
    const auto session =
        recording.Open(R"({"extends":"open","seed":7,"checkpoint":"each_cell","limits":{"wall_s":1}})");
    RunAll(*session, {"x = 5"});
    EXPECT_TRUE(session->Run("x = 6\nimport os; os._exit(3)", {.inspect = InspectMode::kOff}));
    RunAll(*session, {"x"});
  }
  ExpectIdentical(Again());
}

// A grant is given, used, revoked, and what it covered is then denied: each call gets its own decision again.
TEST_F(ReplayTest, DecisionsAndGrantsAreThoseOfTheRecord) {
  int asked = 0;
  auto approver = std::make_shared<DecidingApprover>([&](const ApprovalRequest&) {
    ApprovalDecision decision = DecisionOf(++asked == 1, "ann");
    decision.always = decision.allowed;
    decision.reason = "not any more";
    return decision;
  });
  {
    Recording recording(path());
    const auto session =
        recording.Open(R"({"extends":"open","seed":7,"tools":{"rules":[{"tool":"lookup","effect":"ask"}]}})",
                       LookupTools(0), approver);
    RunAll(*session, {"lookup('abc')", "lookup('abc')"});
    ASSERT_EQ(session->Grants().size(), 1u);
    ASSERT_TRUE(session->RevokeGrant(session->Grants()[0].covers));
    EXPECT_EQ(session->Run("lookup('abc')", {.inspect = InspectMode::kOff})->error->type, "PermissionError");
  }
  EXPECT_EQ(asked, 2);
  ExpectIdentical(Again());
}

TEST_F(ReplayTest, WhatAPersonEditedRunsAsEdited) {
  auto approver = std::make_shared<DecidingApprover>([](const ApprovalRequest& request) {
    ApprovalDecision decision = DecisionOf(true, "ann");
    if (request.subject == ApprovalSubject::kCell)
      decision.code = "lookup('abcdef')";
    else
      decision.arguments = Value::Map{{Value("key"), Value("ab")}};
    return decision;
  });
  {
    Recording recording(path());
    const auto session = recording.Open(
        R"({"extends":"default","imports":{"ask":["sqlite3"]},"tools":{"rules":[{"tool":"lookup","effect":"ask"}]}})",
        LookupTools(40), approver);
    EXPECT_EQ(session->Run("import sqlite3")->value, Value(42));
  }
  ExpectIdentical(Again());
}

TEST_F(ReplayTest, WhatTheRecordDoesNotHoldIsAGap) {
  const char* policy = R"({"extends":"open","redact":[{"name":"token","pattern":"tok-[0-9a-f]{16}"}]})";
  {
    Recording recording(path());
    const auto session = recording.Open(policy);
    ASSERT_TRUE(session->SetVariable("x", Value("tok-0123456789abcdef")));
    RunAll(*session, {"y = 'tok-0123456789abcdef'"});
  }
  EXPECT_EQ(Again().gaps.size(), 2u);
}

TEST_F(ReplayTest, ACellWithoutAnEndIsNotRepeated) {
  {
    Recording recording(path());
    RunAll(*recording.Open(kRepeatable), {"1", "2"});
  }
  std::vector<Json> records = Records();
  std::erase_if(records, [](const Json& record) {
    return record["kind"] == "seal" || record["kind"] == "session_end" || record["kind"] == "files" ||
           (record["kind"] == "cell_end" && record["cell"] == 1);
  });
  const auto report = Replay(records, {.runtime = {.min_ready = 0}});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->cells, 1u);
  EXPECT_EQ(report->gaps.size(), 1u);
  EXPECT_THAT(report->divergences, IsEmpty());
}

TEST_F(ReplayTest, RecordsThatCannotBeReplayedAreRefused) {
  for (const char* text : {"[]", R"([{"kind":"cell","session":"s1","code":"1"}])",
                           R"([{"kind":"session","session":"s1","policy":{"nonsense":1}}])",
                           R"([{"kind":"session","session":"s2","branch_of":"s1"}])"}) {
    const auto report = Replay(Json::parse(text).get<std::vector<Json>>(), {.runtime = {.min_ready = 0}});
    ASSERT_FALSE(report) << text;
    EXPECT_EQ(report.error().code, ErrorCode::kInvalidArgument) << text << report.error().message;
  }
}

TEST_F(ReplayTest, ResumeGoesOnWhereTheLogEnds) {
  std::string id;
  {
    Recording recording(path());
    const auto session = recording.Open(kRepeatable, LookupTools(0));
    id = session->id();
    RunAll(*session, {"import random\nx = lookup('abc')", "r = random.random()", "def f(): return x, r"});
    // Its host ends here: the log has no end of the session.
    std::filesystem::copy_file(path(), folder_ / "killed");
    RunAll(*session, {"f(), random.random()"});
  }
  const std::vector<Json> all = Records();
  std::string expected;
  for (const Json& record : all) {
    if (record["kind"] == "cell_end" && record["cell"] == 3) expected = record["value"]["repr"];
  }
  auto resumed = Resume(*ReadLog(folder_ / "killed"), {.runtime = {.min_ready = 0}});
  ASSERT_TRUE(resumed) << resumed.error().message;
  ExpectIdentical(resumed->report);
  ASSERT_TRUE(resumed->sessions.contains(id));
  const auto result = resumed->sessions.at(id)->Run("f(), random.random()", {.inspect = InspectMode::kOff});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->repr, expected);
  EXPECT_TRUE(Resume(all, {.runtime = {.min_ready = 0}})->sessions.empty()) << "its sessions were closed";
}

}  // namespace
}  // namespace gloveport
