#include "recorded_sessions.h"

#include <gtest/gtest.h>

#include "gloveport/policy/codec.h"

namespace gloveport {

std::shared_ptr<ToolRegistry> LookupTools(std::int64_t offset) {
  auto tools = std::make_shared<ToolRegistry>();
  EXPECT_TRUE(tools->Add("lookup", "Looks up.",
                         [offset](const std::string& key) -> Result<std::int64_t> {
                           if (key == "none") return Fail(ErrorCode::kNotFound, "no such key");
                           return static_cast<std::int64_t>(key.size()) + offset;
                         },
                         {Arg("key", "which")}));
  return tools;
}

Recording::Recording(const std::filesystem::path& path, AuditLogOptions options) {
  auto log = AuditLog::Create(path, std::move(options));
  EXPECT_TRUE(log) << log.error().message;
  log_ = *log;
  auto runtime = Runtime::Create({.min_ready = 0, .record = log_});
  EXPECT_TRUE(runtime) << runtime.error().message;
  runtime_ = std::move(*runtime);
}

Recording::~Recording() {
  runtime_.reset();
  EXPECT_TRUE(log_->Seal());
}

std::unique_ptr<Session> Recording::Open(std::string_view policy, std::shared_ptr<const ToolRegistry> tools,
                                         std::shared_ptr<Approver> approver) {
  SessionOptions options;
  auto parsed = ParsePolicy(std::string(policy), "test");
  EXPECT_TRUE(parsed) << parsed.error().message;
  options.policy = std::move(*parsed);
  options.tools = std::move(tools);
  options.approver = std::move(approver);
  auto session = runtime_->Open(std::move(options));
  EXPECT_TRUE(session) << session.error().message;
  return std::move(*session);
}

void RecordALittleOfEverything(const std::filesystem::path& path, AuditLogOptions options) {
  Recording recording(path, std::move(options));
  auto approver = std::make_shared<DecidingApprover>([](const ApprovalRequest& request) {
    ApprovalDecision decision;
    decision.by = "ann";
    decision.allowed =
        request.subject == ApprovalSubject::kCell || request.arguments.Find("key")->as_text() != "secret";
    decision.always = decision.allowed;
    decision.reason = decision.allowed ? "" : "not that one";
    return decision;
  });
  const auto session = recording.Open(
      R"({"extends":"default","imports":{"ask":["sqlite3"]},"tools":{"rules":[{"tool":"lookup","effect":"ask"}]}})",
      LookupTools(100), approver);
  EXPECT_TRUE(session->SetVariable("start", Value(3)));
  const std::string_view text = "a,b\n1,2\n";
  EXPECT_TRUE(session->PutFile("in.csv", std::as_bytes(std::span(text))));
  for (const char* code :
       {"try: lookup('secret')\nexcept PermissionError as error: print(error)\nlookup('abc') + start",
        "print('\u00e9' * 3); lookup('none')", "import subprocess",
        "import sqlite3\nsqlite3.sqlite_version_info[0]", "open('in.csv').read()",
        "try: open('/etc/shadow')\nexcept OSError as error: print(type(error).__name__)", "lookup('abcdef')"})
    EXPECT_TRUE(session->Run(code));
  const auto checkpoint = session->Checkpoint();
  EXPECT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_TRUE(session->Run("start = 'changed'"));
  EXPECT_TRUE(session->Rollback(*checkpoint));
  EXPECT_TRUE(session->Run("start"));
}

}  // namespace gloveport
