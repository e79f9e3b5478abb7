// What waits for a person's decision: cells and tool calls, and what the decision then does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "gloveport/core/host/sha256.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/policy/codec.h"

#include "session_fixture.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

ApprovalDecision Allow() {
  ApprovalDecision decision;
  decision.allowed = true;
  decision.by = "ann";
  return decision;
}
ApprovalDecision Always() {
  ApprovalDecision decision = Allow();
  decision.always = true;
  return decision;
}
ApprovalDecision Deny(std::string reason) {
  ApprovalDecision decision;
  decision.by = "ann";
  decision.reason = std::move(reason);
  return decision;
}

// Decides by a function at once, or keeps the question for the test.
class TestApprover : public Approver {
 public:
  explicit TestApprover(std::function<ApprovalDecision(const ApprovalRequest&)> decide = nullptr)
      : decide_(std::move(decide)) {}

  void Ask(const ApprovalRequest& request, Answer answer) override {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(request);
      answers_.push_back(answer);
    }
    came_.notify_all();
    if (decide_) answer(decide_(request));
  }
  void Withdraw(std::uint64_t id) override {
    const std::lock_guard lock(mutex_);
    withdrawn_.push_back(id);
    came_.notify_all();
  }

  // The questions, when there are `count`.
  std::vector<ApprovalRequest> Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(came_.wait_for(lock, seconds(20), [&] { return asked_.size() >= count; }));
    return {asked_.begin(), asked_.end()};
  }
  void Answer(std::size_t question, ApprovalDecision decision) {
    Approver::Answer answer;
    {
      const std::lock_guard lock(mutex_);
      answer = answers_.at(question);
    }
    answer(std::move(decision));
  }
  std::size_t asked() const {
    const std::lock_guard lock(mutex_);
    return asked_.size();
  }
  std::vector<std::uint64_t> withdrawn() const {
    const std::lock_guard lock(mutex_);
    return withdrawn_;
  }

 private:
  const std::function<ApprovalDecision(const ApprovalRequest&)> decide_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::deque<ApprovalRequest> asked_;
  std::deque<Approver::Answer> answers_;
  std::vector<std::uint64_t> withdrawn_;
};

// What was told of approvals, in order.
class ApprovalSink : public EventSink {
 public:
  void OnApprovalAsked(std::string_view, std::uint32_t, const ApprovalRequest&) override { Add("asked"); }
  void OnApprovalDecided(std::string_view, std::uint32_t, const ApprovalRequest&,
                         const ApprovalDecision& decision) override {
    Add((decision.allowed ? "allowed by " : "denied by ") + decision.by);
  }
  void OnGrantRevoked(std::string_view, std::string_view) override { Add("revoked"); }
  void OnToolStart(std::string_view, std::uint32_t, std::uint64_t, std::string_view tool,
                   const Value&) override {
    Add("call of " + std::string(tool));
  }
  Status Commit() override {
    const std::lock_guard lock(mutex_);
    return safe_;
  }

  void BreakDown() {
    const std::lock_guard lock(mutex_);
    safe_ = Fail(ErrorCode::kIo, "the disk is full");
  }
  std::vector<std::string> told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  void Add(std::string text) {
    const std::lock_guard lock(mutex_);
    told_.push_back(std::move(text));
  }
  mutable std::mutex mutex_;
  std::vector<std::string> told_;
  Status safe_;
};

constexpr const char* kAskForSend = R"("tools":{"rules":[{"tool":"send","effect":"ask"}]})";

class SessionApprovalsTest : public SessionFixture {
 protected:
  SessionApprovalsTest() {
    EXPECT_TRUE(tools_->Add("send", "Sends.",
                            [this](const std::string& to, std::int64_t copies) {
                              const std::lock_guard lock(mutex_);
                              sent_.push_back(to + " " + std::to_string(copies));
                              return static_cast<std::int64_t>(sent_.size());
                            },
                            {Arg("to", "whom"), Arg("copies", "how many", 1)}));
    EXPECT_TRUE(tools_->Add("look", "Looks.", [] { return std::int64_t{7}; }));
  }

  std::unique_ptr<Session> OpenWith(std::shared_ptr<Approver> approver,
                                    std::string_view members = kAskForSend, std::string_view base = "open") {
    SessionOptions options;
    auto policy =
        ParsePolicy("{\"extends\":\"" + std::string(base) + "\"," + std::string(members) + "}", "test");
    EXPECT_TRUE(policy) << policy.error().message;
    options.policy = std::move(*policy);
    options.tools = tools_;
    options.sink = sink_;
    options.approver = std::move(approver);
    auto session = runtime().Open(std::move(options));
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }
  std::vector<std::string> sent() {
    const std::lock_guard lock(mutex_);
    return sent_;
  }

  std::shared_ptr<ToolRegistry> tools_ = std::make_shared<ToolRegistry>();
  std::shared_ptr<ApprovalSink> sink_ = std::make_shared<ApprovalSink>();
  std::mutex mutex_;
  std::vector<std::string> sent_;
};

TEST_F(SessionApprovalsTest, AnAllowedCallRunsAndTheRequestSaysAllOfIt) {
  auto approver = std::make_shared<TestApprover>([](const ApprovalRequest& request) {
    ApprovalDecision decision = Allow();
    decision.sha256 = request.sha256;
    return decision;
  });
  const auto session = OpenWith(approver);
  EXPECT_EQ(Run(*session, "send('bob')").value, Value(1));
  EXPECT_THAT(sent(), ElementsAre("bob 1"));
  const ApprovalRequest request = approver->Await(1)[0];
  EXPECT_EQ(request.session, session->id());
  EXPECT_EQ(request.subject, ApprovalSubject::kToolCall);
  EXPECT_EQ(request.tool, "send");
  EXPECT_EQ(request.arguments.Find("to")->as_text(), "bob");
  EXPECT_EQ(request.arguments.IntOr("copies", 0), 1) << "defaults are part of what is decided on";
  EXPECT_EQ(request.sha256, Sha256Hex(R"({"tool":"send","args":{"to":"bob","copies":1}})"));
  EXPECT_THAT(request.grant, HasSubstr("send"));
  EXPECT_THAT(sink_->told(), ElementsAre("asked", "allowed by ann", "call of send"));
}

TEST_F(SessionApprovalsTest, ADenialIsAnExceptionWithThePersonsReason) {
  auto approver = std::make_shared<TestApprover>([](const auto&) { return Deny("not on a Sunday"); });
  const auto session = OpenWith(approver);
  const CellResult result = Run(*session, R"(
try:
    send('bob')
except PermissionError as error:
    print(error)
'goes on'
)");
  EXPECT_EQ(result.outcome, Outcome::kOk);
  EXPECT_EQ(result.value, Value("goes on"));
  EXPECT_THAT(result.out, HasSubstr("not on a Sunday"));
  EXPECT_THAT(sent(), ElementsAre());
  ASSERT_EQ(result.usage.denied.size(), 1u);
  EXPECT_EQ(result.usage.denied[0].rule, "approval");
}

TEST_F(SessionApprovalsTest, WhereNobodyIsThereWhatIsAskedForIsDenied) {
  const auto session = OpenWith(nullptr);
  const CellResult result = Run(*session, "send('bob')");
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->type, "PermissionError");
  EXPECT_THAT(sent(), ElementsAre());
}

TEST_F(SessionApprovalsTest, AlwaysCoversLaterCallsUntilItIsRevoked) {
  auto approver = std::make_shared<TestApprover>([](const auto&) { return Always(); });
  const auto session = OpenWith(approver);
  Run(*session, "send('a'); send('b', 2)");
  EXPECT_EQ(approver->asked(), 1u);
  const std::vector<Grant> grants = session->Grants();
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_EQ(grants[0].by, "ann");
  EXPECT_EQ(grants[0].uses, 1u);
  EXPECT_EQ(grants[0].covers, approver->Await(1)[0].grant);
  EXPECT_EQ(session->RevokeGrant("something else").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(session->RevokeGrant(grants[0].covers));
  EXPECT_TRUE(session->Grants().empty());
  Run(*session, "send('c')");
  EXPECT_EQ(approver->asked(), 2u);
  EXPECT_THAT(sent(), ElementsAre("a 1", "b 2", "c 1"));
  EXPECT_THAT(sink_->told(),
              ElementsAre("asked", "allowed by ann", "call of send", "allowed by grant of ann",
                          "call of send", "revoked", "asked", "allowed by ann", "call of send"));
}

TEST_F(SessionApprovalsTest, ABranchHasWhatWasGranted) {
  auto approver = std::make_shared<TestApprover>([](const auto&) { return Always(); });
  const auto session = OpenWith(approver);
  Run(*session, "send('a')");
  auto branches = session->Branch(1);
  ASSERT_TRUE(branches) << branches.error().message;
  Run(*branches->front(), "send('b')");
  EXPECT_EQ(approver->asked(), 1u);
  ASSERT_TRUE(session->RevokeGrant(session->Grants().at(0).covers));
  EXPECT_EQ(branches->front()->Grants().size(), 1u) << "each on its own";
}

TEST_F(SessionApprovalsTest, NoDecisionInTimeIsADenial) {
  auto approver = std::make_shared<TestApprover>();
  const auto session = OpenWith(approver, std::string(kAskForSend) + R"(,"limits":{"approval_s":0.1})");
  const CellResult result = Run(*session, "send('bob')");
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->type, "PermissionError");
  EXPECT_THAT(result.error->message, HasSubstr("approval_timeout"));
  EXPECT_THAT(approver->withdrawn(), ElementsAre(approver->Await(1)[0].id));
  approver->Answer(0, Allow());  // too late: nothing comes of it
  EXPECT_EQ(Run(*session, "look()").value, Value(7));
  EXPECT_THAT(sent(), ElementsAre());
}

TEST_F(SessionApprovalsTest, ADecisionOnSomethingElseIsADenial) {
  auto approver = std::make_shared<TestApprover>([](const auto&) {
    ApprovalDecision decision = Always();
    decision.sha256 = Sha256Hex("what was shown");
    return decision;
  });
  const auto session = OpenWith(approver);
  const CellResult result = Run(*session, "send('bob')");
  ASSERT_TRUE(result.error);
  EXPECT_THAT(result.error->message, HasSubstr("something else"));
  EXPECT_THAT(sent(), ElementsAre());
  EXPECT_TRUE(session->Grants().empty());
}

TEST_F(SessionApprovalsTest, EditedArgumentsAreWhatRunsAndThePolicyJudgesThemAnew) {
  const char* rules = R"("tools":{"rules":[{"tool":"send","effect":"deny","where":{"to":{"one_of":["eve"]}}},
                                           {"tool":"send","effect":"ask"}]})";
  auto approver = std::make_shared<TestApprover>([](const ApprovalRequest& request) {
    ApprovalDecision decision = Allow();
    const bool evil = request.arguments.Find("to")->as_text() == "trudy";
    decision.arguments =
        Value::Map{{Value("to"), Value(evil ? "eve" : "carol")}, {Value("copies"), Value(3)}};
    return decision;
  });
  const auto session = OpenWith(approver, rules);
  EXPECT_EQ(Run(*session, "send('bob')").outcome, Outcome::kOk);
  EXPECT_THAT(sent(), ElementsAre("carol 3"));
  const CellResult result = Run(*session, "send('trudy')");
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->type, "PermissionError");
  EXPECT_THAT(result.error->message, HasSubstr("denied by the policy"));
  EXPECT_THAT(sent(), ElementsAre("carol 3"));
}

TEST_F(SessionApprovalsTest, EditedArgumentsThatDoNotFitAreAnErrorOfTheCall) {
  auto approver = std::make_shared<TestApprover>([](const ApprovalRequest&) {
    ApprovalDecision decision = Allow();
    decision.arguments = Value::Map{{Value("whom"), Value(1)}};
    return decision;
  });
  const auto session = OpenWith(approver);
  const CellResult result = Run(*session, "send('bob')");
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->type, "TypeError") << result.error->message;
  EXPECT_THAT(sent(), ElementsAre());
}

TEST_F(SessionApprovalsTest, AnInterruptWithdrawsTheQuestion) {
  auto approver = std::make_shared<TestApprover>();
  const auto session = OpenWith(approver);
  auto running = session->Start("send('bob')", {.inspect = InspectMode::kOff});
  const std::uint64_t id = approver->Await(1)[0].id;
  ASSERT_TRUE(session->Interrupt());
  const auto result = running.get();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->error->type, "KeyboardInterrupt");
  EXPECT_THAT(approver->withdrawn(), ElementsAre(id));
  approver->Answer(0, Allow());
  EXPECT_EQ(Run(*session, "look()").value, Value(7));
  EXPECT_THAT(sent(), ElementsAre());
}

TEST_F(SessionApprovalsTest, CloseEndsACellThatWaits) {
  auto approver = std::make_shared<TestApprover>();
  auto session = OpenWith(approver);
  auto running = session->Start("send('bob')", {.inspect = InspectMode::kOff});
  (void)approver->Await(1);
  session->Close();
  EXPECT_EQ(running.wait_for(seconds(20)), std::future_status::ready);
  EXPECT_EQ(approver->withdrawn().size(), 1u);
  session.reset();
  approver->Answer(0, Allow());  // after the session is gone
  EXPECT_THAT(sent(), ElementsAre());
}

TEST_F(SessionApprovalsTest, TheCellsClockStandsStillWhileItWaits) {
  auto approver = std::make_shared<TestApprover>();
  const auto session = OpenWith(approver, std::string(kAskForSend) + R"(,"limits":{"wall_s":0.4})");
  auto running = session->Start("send('bob')", {.inspect = InspectMode::kOff});
  (void)approver->Await(1);
  std::this_thread::sleep_for(milliseconds(900));
  approver->Answer(0, Allow());
  const auto result = running.get();
  EXPECT_EQ(result->outcome, Outcome::kOk) << result->error->message;
  // And it goes on afterwards.
  EXPECT_EQ(Run(*session, "while True: pass").outcome, Outcome::kTimeout);
}

TEST_F(SessionApprovalsTest, OtherCallsGoOnMeanwhile) {
  auto approver = std::make_shared<TestApprover>();
  const auto session = OpenWith(approver);
  auto running = session->Start(R"(
import threading
done = []
waiting = threading.Thread(target=lambda: done.append(send('bob')))
waiting.start()
for _ in range(50): done.append(look())
print('looked')
waiting.join()
done
)",
                                {.inspect = InspectMode::kOff});
  (void)approver->Await(1);
  const auto looks = [&] { return std::ranges::count(sink_->told(), "call of look"); };
  for (int i = 0; i < 2000 && looks() < 50; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(looks(), 50);
  EXPECT_THAT(sent(), ElementsAre());
  approver->Answer(0, Allow());
  EXPECT_EQ(running.get()->value.as_list().size(), 51u);
  EXPECT_THAT(sent(), ElementsAre("bob 1"));
}

TEST_F(SessionApprovalsTest, QuestionsOfOneCellAreDecidedInAnyOrder) {
  auto approver = std::make_shared<TestApprover>();
  const auto session = OpenWith(approver);
  auto running = session->Start(R"(
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(3) as pool:
    parts = [pool.submit(send, to) for to in 'abc']
[part.exception() is None for part in parts]
)",
                                {.inspect = InspectMode::kOff});
  const auto asked = approver->Await(3);
  for (const std::size_t question : {2, 0, 1}) {
    const bool allowed = asked[question].arguments.Find("to")->as_text() != "b";
    approver->Answer(question, allowed ? Allow() : Deny("not b"));
  }
  EXPECT_EQ(running.get()->repr, "[True, False, True]");
}

TEST_F(SessionApprovalsTest, ADecisionThatCannotBeRecordedIsADenial) {
  auto approver = std::make_shared<TestApprover>();
  const auto session = OpenWith(approver);
  auto running = session->Start("send('bob')", {.inspect = InspectMode::kOff});
  (void)approver->Await(1);
  sink_->BreakDown();
  approver->Answer(0, Allow());
  const auto result = running.get();
  ASSERT_TRUE(result->error);
  EXPECT_THAT(result->error->message, HasSubstr("could not be recorded"));
  EXPECT_THAT(sent(), ElementsAre());
}

// ---- cells ----

constexpr const char* kAskForSqlite = R"("imports":{"ask":["sqlite3"]})";

TEST_F(SessionApprovalsTest, AnApprovedCellReallyImportsWhatThePolicyAsksFor) {
  auto approver = std::make_shared<TestApprover>([](const auto&) { return Allow(); });
  const auto session = OpenWith(approver, kAskForSqlite, "default");
  const std::string code =
      "import sqlite3\nsqlite3.connect(':memory:').execute('select 6 * 7').fetchone()[0]";
  const auto result = session->Run(code);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->outcome, Outcome::kOk) << result->error->message;
  EXPECT_EQ(result->value, Value(42));
  const ApprovalRequest request = approver->Await(1)[0];
  EXPECT_EQ(request.subject, ApprovalSubject::kCell);
  EXPECT_EQ(request.code, code);
  EXPECT_EQ(request.sha256, Sha256Hex(code));
  EXPECT_THAT(request.reason, HasSubstr("sqlite3"));
}

TEST_F(SessionApprovalsTest, ACellThatIsDeniedDoesNotRun) {
  auto approver = std::make_shared<TestApprover>([](const auto&) { return Deny("no databases"); });
  const auto session = OpenWith(approver, kAskForSqlite, "default");
  const auto result = session->Run("import sqlite3\nx = 1");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->outcome, Outcome::kDenied);
  EXPECT_EQ(result->refusal_reason, "no databases");
  EXPECT_THAT(result->error->message, HasSubstr("no databases"));
  EXPECT_FALSE(session->GetVariable("x"));
}

// One approval is one cell's: what the next computes at run time is refused as ever.
TEST_F(SessionApprovalsTest, AnApprovalIsForOneCell) {
  auto approver = std::make_shared<TestApprover>([](const auto&) { return Allow(); });
  const auto session = OpenWith(approver, kAskForSqlite, "default");
  EXPECT_EQ(session->Run("import sqlite3")->outcome, Outcome::kOk);
  (void)session->Run("import sqlite3");
  EXPECT_EQ(approver->asked(), 2u);
}

TEST_F(SessionApprovalsTest, AnEditedCellIsWhatRunsAndIsJudgedAnew) {
  std::string edited = "y = 5\ny * 2";
  auto approver = std::make_shared<TestApprover>([&](const auto&) {
    ApprovalDecision decision = Allow();
    decision.code = edited;
    return decision;
  });
  const auto session = OpenWith(approver, kAskForSqlite, "default");
  EXPECT_EQ(session->Run("import sqlite3")->value, Value(10));
  edited = "import subprocess";
  const auto result = session->Run("import sqlite3");
  EXPECT_EQ(result->outcome, Outcome::kDenied) << "deny stays deny, whoever wrote it";
  EXPECT_THAT(result->error->message, HasSubstr("subprocess"));
}

TEST_F(SessionApprovalsTest, AnInterruptEndsACellThatWaitsToRun) {
  auto approver = std::make_shared<TestApprover>();
  const auto session = OpenWith(approver, kAskForSqlite, "default");
  auto running = session->Start("import sqlite3");
  (void)approver->Await(1);
  ASSERT_TRUE(session->Interrupt());
  EXPECT_EQ(running.get()->outcome, Outcome::kDenied);
  EXPECT_EQ(approver->withdrawn().size(), 1u);
}

TEST_F(SessionApprovalsTest, NoDecisionAboutACellInTimeIsADenial) {
  auto approver = std::make_shared<TestApprover>();
  const auto session =
      OpenWith(approver, std::string(kAskForSqlite) + R"(,"limits":{"approval_s":0.1})", "default");
  const auto result = session->Run("import sqlite3");
  EXPECT_EQ(result->outcome, Outcome::kDenied);
  EXPECT_THAT(result->error->message, HasSubstr("approval_timeout"));
}

}  // namespace
}  // namespace gloveport
