#include "gloveport/core/record/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <thread>

#include "gloveport/core/record/log_reader.h"
#include "gloveport/policy/codec.h"

#include "temporary_log.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kSecret = "tok-0123456789abcdef";

SessionFacts Facts(const std::string& session) {
  SessionFacts facts;
  facts.session = session;
  facts.policy = ParsePolicy(R"({"redact":[{"name":"token","pattern":"tok-[0-9a-f]{16}"}]})", "test").value();
  facts.modules = {{"json", "/usr/lib/json.py", std::string(64, 'a')}};
  return facts;
}

class AuditLogTest : public testing::Test {
 protected:
  std::shared_ptr<AuditLog> Create(AuditLogOptions options = {}) {
    auto log = AuditLog::Create(folder_ / "log", std::move(options));
    EXPECT_TRUE(log) << log.error().message;
    return *log;
  }
  std::vector<Json> Records() {
    auto records = ReadLog(folder_ / "log");
    EXPECT_TRUE(records) << records.error().message;
    return *records;
  }
  TemporaryFolder folder_;
};

TEST_F(AuditLogTest, TheFileIsItsOwnersAloneAndNeverOverwritten) {
  const auto log = Create();
  EXPECT_EQ(std::filesystem::status(log->path()).permissions(), std::filesystem::perms(0600));
  const auto again = AuditLog::Create(folder_ / "log");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(AuditLogTest, AFolderGetsAFileForEach) {
  const auto first = AuditLog::Create(folder_ / "logs/");
  const auto second = AuditLog::Create(folder_ / "logs");
  ASSERT_TRUE(first && second);
  EXPECT_NE((*first)->path(), (*second)->path());
  EXPECT_TRUE(std::filesystem::exists((*first)->path()));
}

TEST_F(AuditLogTest, APublicKeyCannotSignALog) {
  ASSERT_TRUE(SigningKey::Generate(folder_ / "key"));
  EXPECT_EQ(AuditLog::Create(folder_ / "log", {.key = *SigningKey::Load(folder_ / "key.pub")}).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(AuditLogTest, EachRecordIsInTheFileWhenTheCallReturns) {
  const auto log = Create();
  log->OnSessionOpen(Facts("s1"));
  EXPECT_EQ(Records().size(), 1u);
  log->OnCellStart("s1", 0, "x = 1");
  EXPECT_EQ(Records().size(), 2u);
  log->Note("run_end", {{"stop_reason", "final_answer"}});
  EXPECT_EQ(Records().size(), 3u);
  EXPECT_EQ(Records()[2]["stop_reason"], "final_answer");
}

TEST_F(AuditLogTest, NothingIsWrittenBehindTheSeal) {
  const auto log = Create();
  log->OnSessionOpen(Facts("s1"));
  ASSERT_TRUE(log->Seal());
  const std::string head = log->head();
  ASSERT_TRUE(log->Seal()) << "once more";
  log->OnCellStart("s1", 0, "x = 1");
  EXPECT_EQ(log->head(), head);
  EXPECT_EQ(CheckLog(folder_ / "log")->end, LogEnd::kSealed);
}

TEST_F(AuditLogTest, WithoutASealTheEndIsOpen) {
  Create()->OnSessionOpen(Facts("s1"));
  EXPECT_EQ(CheckLog(folder_ / "log")->end, LogEnd::kOpen);
}

TEST_F(AuditLogTest, ModulesOfOneTemplateAreListedOnce) {
  const auto log = Create();
  for (const char* session : {"s1", "s2"}) log->OnSessionOpen(Facts(session));
  const auto records = Records();
  EXPECT_EQ(records[0]["modules"].size(), 1u);
  EXPECT_EQ(records[1]["modules"].size(), 0u);
  EXPECT_EQ(records[1]["modules_in"], 0u);
  EXPECT_EQ(records[1]["modules_sha256"], records[0]["modules_sha256"]);
}

// Whatever reports it, the file has no secret.
TEST_F(AuditLogTest, NoEventBringsASecretIntoTheFile) {
  const std::string secret = kSecret;
  const auto log = Create();
  log->OnSessionOpen(Facts("s1"));
  log->OnVariableSet("s1", "x", Value(secret));
  log->OnFilePut("s1", secret, std::as_bytes(std::span(secret)));
  log->OnFileRemoved("s1", secret);
  log->OnFilesAtEnd("s1", {{secret, 1, ""}});
  log->OnCellStart("s1", 0, "x = '" + secret + "'");
  log->OnVerdict("s1", 0, {Decision::kEscalate, {{"import", 1, 1, secret, secret}}});
  ApprovalRequest request;
  request.arguments = Value(Value::Map{{Value("a"), Value(secret)}});
  request.tool = "send";
  request.reason = request.grant = secret;
  log->OnApprovalAsked("s1", 0, request);
  ApprovalDecision decision;
  decision.reason = secret;
  decision.by = secret;
  decision.code = secret;
  log->OnApprovalDecided("s1", 0, request, decision);
  decision.code.reset();
  decision.arguments = Value::Map{{Value("a"), Value(secret)}};
  log->OnApprovalDecided("s1", 0, request, decision);
  log->OnGrantRevoked("s1", secret);
  log->OnToolStart("s1", 0, 1, "send", request.arguments);
  ToolCallRecord call;
  call.ok = true;
  call.result = Value(secret);
  log->OnToolCall("s1", 0, call);
  call.ok = false;
  call.error = secret;
  log->OnToolCall("s1", 0, call);
  log->OnOutput("s1", 0, Stream::kStdout, secret.substr(0, 9));
  log->OnOutput("s1", 0, Stream::kStdout, secret.substr(9));
  log->OnOutput("s1", 0, Stream::kStderr, secret);
  log->OnDisplay("s1", 0, Value(Value::Map{{Value("text/plain"), Value(secret)}, {Value(secret), Value(1)}}));
  log->OnRefusal("s1", 0, {"kernel", "path", secret, secret});
  log->OnFileOpen("s1", 0, {"kernel", secret, "read", true});
  log->OnImport("s1", 0, secret, true);
  log->OnStateChange("s1", {"checkpoint", "c1"});
  CellResult result;
  result.type = "str";
  result.value = Value(secret);
  result.repr = secret;
  result.error = PythonError{"ValueError", secret, 1, 0, secret};
  result.final_answer = FinalAnswerValue{Value(secret), secret, secret};
  result.limit = LimitHit{"wall", secret, 1, 1, "s"};
  result.usage.files_read = result.usage.files_written = {secret};
  log->OnCellEnd("s1", result);
  log->OnSessionClose("s1");
  EXPECT_THAT(ReadText(folder_ / "log"), Not(HasSubstr(secret)));
  EXPECT_THAT(ReadText(folder_ / "log"), HasSubstr("[redacted:token]"));
}

TEST_F(AuditLogTest, ThreadsShareOneChain) {
  const auto log = Create();
  for (int i = 0; i < 4; ++i) log->OnSessionOpen(Facts("s" + std::to_string(i)));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&log, session = "s" + std::to_string(i)] {
      for (std::uint32_t cell = 0; cell < 100; ++cell) log->OnCellStart(session, cell, "pass");
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(log->Seal());
  const auto check = CheckLog(folder_ / "log");
  EXPECT_EQ(check->end, LogEnd::kSealed) << check->problem;
  EXPECT_EQ(check->records, 405u);
}

// A disk that is full.
TEST_F(AuditLogTest, WhatCannotBeWrittenStopsWhatWouldNotBeRecorded) {
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const auto small = Create();
  small->OnSessionOpen(Facts("s1"));
  EXPECT_TRUE(small->Commit());
  const struct rlimit none = {std::filesystem::file_size(folder_ / "log") + 10, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &none);
  small->OnCellStart("s1", 0, std::string(100, 'x'));
  small->OnCellStart("s1", 1, "y");
  const Status safe = small->Commit();
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(safe);
  EXPECT_THAT(safe.error().message, HasSubstr("cannot write the audit log"));
  EXPECT_FALSE(small->Seal());
  const auto check = CheckLog(folder_ / "log");
  EXPECT_EQ(check->end, LogEnd::kTorn);
  EXPECT_EQ(check->records, 1u);
}

TEST(AuditLogIntoTest, RecordsGoToTheFunctionAndNowhereElse) {
  std::vector<Json> taken;
  const auto log = AuditLog::Into([&](const Json& record) { taken.push_back(record); });
  log->OnSessionOpen(Facts("s1"));
  log->OnCellStart("s1", 0, "x");
  EXPECT_TRUE(log->Commit());
  EXPECT_TRUE(log->Seal());
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[1]["code"], "x");
  EXPECT_TRUE(log->path().empty());
}

}  // namespace
}  // namespace gloveport
