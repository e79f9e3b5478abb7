// Decision hooks outside of the host: programs and HTTP endpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/net/http_server.h"
#include "gloveport/core/serve/http_hook.h"
#include "gloveport/core/serve/program_hook.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

HookQuestion Question(std::string code = "1 + 1") {
  HookQuestion question;
  question.code = std::move(code);
  return question;
}

HookAnswer AskShell(const std::string& script, milliseconds time = seconds(20),
                    const HookQuestion& question = Question()) {
  auto hook = ProgramHook::Create({"/bin/sh", "-c", script});
  EXPECT_TRUE(hook);
  return AskHook(**hook, question, time);
}

TEST(ProgramHookTest, TheProgramGetsTheQuestionAndDecides) {
  const std::string script = R"(if grep -q '"code":"evil' ; then echo '{"decision":"deny","reason":"evil"}';
                                else echo '{"decision":"allow"}'; fi)";
  EXPECT_EQ(AskShell(script).decision, Effect::kAllow);
  const HookAnswer denied = AskShell(script, seconds(20), Question("evil()"));
  EXPECT_EQ(denied.decision, Effect::kDeny);
  EXPECT_EQ(denied.reason, "evil");
}

TEST(ProgramHookTest, ALargeQuestionThatNobodyReadsKeepsNobodyWaiting) {
  const HookQuestion question = Question(std::string(1 << 20, 'x'));
  EXPECT_EQ(AskShell(R"(echo '{"decision":"allow"}')", seconds(20), question).decision, Effect::kAllow);
  EXPECT_EQ(
      AskShell(R"sh(test "$(wc -c)" -gt 1000000 && echo '{"decision":"allow"}')sh", seconds(20), question)
          .decision,
      Effect::kAllow);
}

TEST(ProgramHookTest, WhateverGoesWrongIsADenialWithTheReason) {
  const struct {
    std::string script;
    std::string reason;
  } rows[] = {{"exit 3", "exit code 3"},
              {R"(echo '{"decision":"allow"}'; exit 1)", "exit code 1"},
              {R"(echo '{"decision":"allow"}'; kill -9 $$)", "signal 9"},
              {"true", "its answer is none"},
              {"echo yes", "its answer is none"},
              {"yes", "more than 65536 bytes"}};
  for (const auto& row : rows) {
    const HookAnswer answer = AskShell(row.script);
    EXPECT_EQ(answer.decision, Effect::kDeny) << row.script;
    EXPECT_THAT(answer.reason, HasSubstr(row.reason)) << row.script;
  }
  auto missing = ProgramHook::Create({"/nowhere/judge"});
  ASSERT_TRUE(missing);
  EXPECT_THAT(AskHook(**missing, Question()).reason,
              HasSubstr("the decision hook (program /nowhere/judge) did not decide: cannot start it"));
  EXPECT_FALSE(ProgramHook::Create({}));
}

TEST(ProgramHookTest, AtTheDeadlineTheProgramAndItsChildrenAreGone) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "gloveport-hook-pid";
  std::filesystem::remove(file);
  const HookAnswer answer = AskShell("sleep 1000 & echo $! > " + file.string() + ".new; mv " + file.string() +
                                         ".new " + file.string() + "; wait",
                                     milliseconds(1500));
  EXPECT_EQ(answer.decision, Effect::kDeny);
  EXPECT_THAT(answer.reason, HasSubstr("no answer in time"));
  const auto pid = ReadFile(file);
  ASSERT_TRUE(pid) << "the program did not come as far as it should within its time";
  // A killed orphan is there until somebody waits for it; it does not run any more.
  const auto gone = [&pid] {
    const auto stat = ReadFile("/proc/" + std::to_string(std::stoi(*pid)) + "/stat");
    return !stat || stat->find(") Z ") != std::string::npos;
  };
  const auto end = std::chrono::steady_clock::now() + seconds(20);
  while (!gone() && std::chrono::steady_clock::now() < end) ::usleep(1000);
  EXPECT_TRUE(gone());
  std::filesystem::remove(file);
}

std::unique_ptr<HttpServer> Serve(HttpServer::Handler handler) {
  auto server = HttpServer::Start({}, std::move(handler));
  EXPECT_TRUE(server);
  return std::move(*server);
}

HookAnswer AskServer(const HttpServer& server, milliseconds time = seconds(20),
                     const HookQuestion& question = Question()) {
  auto hook =
      HttpHook::Create({.url = server.origin() + "/judge?key=secret", .headers = {{"X-Key", "secret"}}});
  EXPECT_TRUE(hook);
  EXPECT_EQ((*hook)->name(), server.origin());
  return AskHook(**hook, question, time);
}

TEST(HttpHookTest, TheEndpointGetsTheQuestionAndDecides) {
  const auto server = Serve([](const HttpServerRequest& request) {
    const auto question = ParseJson(request.body);
    const bool evil = question && (*question)["code"] == "evil()";
    const std::string* key = FindHeader(request.headers, "x-key");
    if (request.method != "POST" || request.path != "/judge" || key == nullptr || *key != "secret")
      return HttpResponse{400, {}, ""};
    return HttpResponse{200, {}, evil ? R"({"decision":"deny","reason":"evil"})" : R"({"decision":"allow"})"};
  });
  EXPECT_EQ(AskServer(*server).decision, Effect::kAllow);
  const HookAnswer denied = AskServer(*server, seconds(20), Question("evil()"));
  EXPECT_EQ(denied.decision, Effect::kDeny);
  EXPECT_EQ(denied.reason, "evil");
}

TEST(HttpHookTest, WhateverGoesWrongIsADenialThatTellsNoSecret) {
  const struct {
    HttpResponse response;
    std::string reason;
  } rows[] = {{{500, {}, R"({"decision":"allow"})"}, "status 500"},
              {{204, {}, ""}, "status 204"},
              {{302, {{"Location", "/other"}}, R"({"decision":"allow"})"}, "status 302"},
              {{200, {}, "<html>"}, "its answer is none"},
              {{200, {}, std::string(kMaxHookAnswerBytes + 1, ' ')}, "too large"}};
  for (const auto& row : rows) {
    const auto server = Serve([&row](const HttpServerRequest&) { return row.response; });
    const HookAnswer answer = AskServer(*server);
    EXPECT_EQ(answer.decision, Effect::kDeny) << row.reason;
    EXPECT_THAT(answer.reason, HasSubstr("did not decide")) << row.reason;
    EXPECT_EQ(answer.reason.find("secret"), std::string::npos) << answer.reason;
    if (row.reason != "too large") {
      EXPECT_THAT(answer.reason, HasSubstr(row.reason));
    }
  }
}

TEST(HttpHookTest, NoAnswerInTimeIsADenial) {
  Pipe gate = *MakePipe();
  const auto server = Serve([&gate](const HttpServerRequest&) {
    (void)WaitFor(gate.read_end.get(), POLLIN, Deadline::After(seconds(30)));
    return HttpResponse{200, {}, R"({"decision":"allow"})"};
  });
  EXPECT_EQ(AskServer(*server, milliseconds(100)).decision, Effect::kDeny);
  gate.write_end.reset();  // lets the handler go
}

TEST(HttpHookTest, NobodyThereAndNoUrl) {
  std::string origin;
  {
    const auto server = Serve([](const HttpServerRequest&) { return HttpResponse{200, {}, ""}; });
    origin = server->origin();
  }
  auto hook = HttpHook::Create({.url = origin});
  ASSERT_TRUE(hook);
  EXPECT_EQ(AskHook(**hook, Question()).decision, Effect::kDeny);
  EXPECT_FALSE(HttpHook::Create({.url = "ftp://example.org"}));
  EXPECT_FALSE(HttpHook::Create({.url = "http://example.org", .headers = {{"A", "b\r\nC: d"}}}));
}

}  // namespace
}  // namespace gloveport
