// McpConnection and McpClient over stdio, with a server that is faulty in every way (fake_server.py).
#include "gloveport/core/mcp/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <thread>

#include "gloveport/core/base/text.h"
#include "gloveport/core/mcp/client.h"
#include "gloveport/core/mcp/mcp_tool.h"
#include "gloveport/tests/support/temporary_folder.h"

namespace gloveport {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class Recorder : public McpObserver {
 public:
  void OnNote(const std::string&, const std::string& text) override { Add("note " + text); }
  void OnProgress(const std::string&, const std::string&, const McpProgress& progress) override {
    Add("progress " + progress.message);
  }
  void OnToolsChanged(const std::string&) override { Add("changed"); }
  std::string all() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  void Add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    text_ += line + "\n";
  }
  std::mutex mutex_;
  std::string text_;
};

class StdioConnection : public ::testing::Test {
 protected:
  std::string state_file() const { return (folder_ / "state").string(); }

  // What the server wrote down, once it holds `text` or the time is up.
  std::string AwaitState(const std::string& text) const {
    std::string state;
    const Deadline deadline = Deadline::After(10s);
    while (!deadline.passed()) {
      std::ifstream file(state_file());
      std::stringstream all;
      all << file.rdbuf();
      state = all.str();
      if (state.find(text) != std::string::npos) break;
      std::this_thread::sleep_for(5ms);  // another process writes; there is no event to wait for
    }
    return state;
  }

  McpServerConfig Config(const std::vector<std::string>& flags = {}) const {
    McpServerConfig config;
    config.name = "fake";
    config.command.argv = {"/usr/bin/python3", GLOVEPORT_SOURCE_DIR "/tests/core/mcp/fake_server.py",
                           "--state", state_file()};
    config.command.argv.insert(config.command.argv.end(), flags.begin(), flags.end());
    return config;
  }

  std::shared_ptr<McpConnection> Make(const std::vector<std::string>& flags = {}) {
    options_.observer = recorder_;
    return std::make_shared<McpConnection>(Config(flags), options_);
  }

  // A tool of the fake server that needs no arguments, unless some are given.
  static Result<Value> Call(McpConnection& connection, const std::string& name,
                            Json arguments = Json::object(), Deadline deadline = Deadline::After(20s),
                            std::stop_token stop = {}) {
    McpToolInfo info;
    info.name = name;
    info.input_schema = Json::object();
    ASSIGN_OR_RETURN(const Json result,
                     connection.CallTool({info, std::move(arguments), deadline, std::move(stop)}));
    return ToolResultValue(result, info, {}, {});
  }

  TemporaryFolder folder_;
  McpConnectionOptions options_;
  const std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
};

TEST_F(StdioConnection, ShakesHandsListsAndCalls) {
  const auto connection = Make();
  const auto facts = connection->Connect();
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ("2025-11-25", facts->revision);
  EXPECT_EQ("fake", facts->server.name);
  const auto tools = connection->ListTools();
  ASSERT_TRUE(tools);
  EXPECT_EQ(17u, tools->size());
  EXPECT_EQ(Value("hi hi"), Call(*connection, "echo", {{"message", "hi"}, {"times", 2}}).value());
  EXPECT_TRUE(connection->Ping(Deadline::After(5s)));
  EXPECT_THAT(AwaitState("initialized"), HasSubstr("notifications/initialized"));
}

TEST_F(StdioConnection, ReadsAllPages) {
  const auto connection = Make({"--pages"});
  const auto tools = connection->ListTools();
  ASSERT_TRUE(tools) << tools.error().message;
  EXPECT_EQ(17u, tools->size());
}

TEST_F(StdioConnection, SpeaksTheStatelessRevision) {
  const auto connection = Make({"--stateless"});
  const auto facts = connection->Connect();
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ("2026-07-28", facts->revision);
  EXPECT_EQ(Value("hi"), Call(*connection, "echo", {{"message", "hi"}}).value());
  EXPECT_TRUE(connection->Ping(Deadline::After(5s)));
  EXPECT_THAT(AwaitState("subscribed"), AllOf(HasSubstr("subscribed"), Not(HasSubstr("initialize"))));
}

TEST_F(StdioConnection, ARevisionThatIsRefusedAndOfferedIsTriedOnceMore) {
  const auto facts = Make({"--stateless", "--refusals", "1"})->Connect();
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ("2026-07-28", facts->revision);
  const auto refused = Make({"--stateless", "--refusals", "2"})->Connect();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("it offers: 2026-07-28"));
}

TEST_F(StdioConnection, FallsBackWhereTheServerIsSilentUponWhatItDoesNotKnow) {
  options_.probe_time = 100ms;
  const auto connection = Make({"--ignore-discover"});
  const auto facts = connection->Connect();
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ("2025-11-25", facts->revision);
}

TEST_F(StdioConnection, KeepsToARevisionThatIsNamed) {
  McpServerConfig config = Config();
  config.revision = "2025-06-18";
  McpConnection connection(config, options_);
  EXPECT_EQ("2025-06-18", connection.Connect()->revision);
  config = Config({"--stateless"});
  config.revision = "2025-11-25";
  McpConnection other(config, options_);
  EXPECT_FALSE(other.Connect());
}

TEST_F(StdioConnection, GivesTheServerACleanEnvironment) {
  ::setenv("GLOVEPORT_TEST_SECRET", "x", 1);
  McpServerConfig config = Config();
  config.command.env["CONFIGURED"] = "yes";
  McpConnection connection(config, options_);
  const auto environment = Call(connection, "environment");
  ASSERT_TRUE(environment);
  EXPECT_THAT(environment->as_text(), AllOf(HasSubstr("CONFIGURED"), Not(HasSubstr("SECRET"))));
}

TEST_F(StdioConnection, ErrorsOfToolsAndOfTheServerAreText) {
  const auto connection = Make();
  const auto failed = Call(*connection, "fail");
  ASSERT_FALSE(failed);
  EXPECT_EQ("it went \\x1b[31mwrong\\x1b[0m", failed.error().message);
  const auto refused = Call(*connection, "refuse");
  ASSERT_FALSE(refused);
  EXPECT_EQ("MCP server fake: the server refuses tools/call with error -32602: no such\\x07 thing",
            refused.error().message);
  EXPECT_TRUE(Call(*connection, "echo", {{"message", "still there"}}));
}

TEST_F(StdioConnection, ServerThatDiesInACallFailsThatCallOnlyAndIsStartedAgain) {
  const auto connection = Make();
  const auto died = Call(*connection, "die");
  ASSERT_FALSE(died);
  EXPECT_EQ(ErrorCode::kClosed, died.error().code);
  EXPECT_THAT(died.error().message, AllOf(HasSubstr("exit code 3"), Not(HasSubstr("last words")),
                                          HasSubstr("nothing was repeated")));
  EXPECT_EQ(Value("back"), Call(*connection, "echo", {{"message", "back"}}).value());
  const std::string state = AwaitState("initialized");
  const auto starts = [&] {
    std::size_t count = 0;
    for (const auto line : SplitLines(state)) count += line == "started";
    return count;
  };
  EXPECT_EQ(2u, starts());
  // What it wrote to its standard error is for people, not for whoever called.
  EXPECT_THAT(recorder_->all(),
              AllOf(HasSubstr("the connection was lost"), HasSubstr("last words of the server")));
}

TEST_F(StdioConnection, AllCallsThatAreUnderWayFailWhenTheServerDies) {
  const auto connection = Make();
  ASSERT_TRUE(connection->Connect());
  auto waiting = std::async(std::launch::async, [&] { return Call(*connection, "never"); });
  auto other = std::async(std::launch::async, [&] { return Call(*connection, "never"); });
  ASSERT_FALSE(Call(*connection, "die"));
  // Whether these were sent before or after the server died, they end: with its death, or because the next
  // one, which never answers either, is cut off here.
  connection->Close();
  EXPECT_FALSE(waiting.get());
  EXPECT_FALSE(other.get());
}

TEST_F(StdioConnection, ServerThatCannotStartIsTriedLessAndLess) {
  options_.first_pause = 20s;
  const auto connection = Make({"--dies-at-start"});
  const auto first = connection->Connect();
  ASSERT_FALSE(first);
  EXPECT_THAT(first.error().message, HasSubstr("exit code 1"));
  EXPECT_THAT(first.error().hint, HasSubstr("the database is missing"));
  const auto second = connection->Connect();
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("it is tried again in"));
}

TEST_F(StdioConnection, ProgramThatIsNotThereIsNamed) {
  McpServerConfig config;
  config.name = "gone";
  config.command.argv = {"no-such-program-anywhere"};
  McpConnection connection(config, options_);
  const auto facts = connection.Connect();
  ASSERT_FALSE(facts);
  EXPECT_EQ(ErrorCode::kNotFound, facts.error().code);
  EXPECT_THAT(facts.error().message,
              HasSubstr("MCP server gone: there is no program \"no-such-program-anywhere\""));
}

TEST_F(StdioConnection, SkipsSomeGarbage) {
  const auto connection = Make();
  EXPECT_EQ(Value("after garbage"), Call(*connection, "garbage").value());
  EXPECT_EQ(Value("after a deep one"), Call(*connection, "deep").value());
}

TEST_F(StdioConnection, GivesUpAServerThatSendsNothingButGarbage) {
  options_.grace = 100ms;
  const auto connection = Make();
  const auto flooded = Call(*connection, "flood");
  ASSERT_FALSE(flooded);
  EXPECT_THAT(flooded.error().message, HasSubstr("100 messages that are none"));
  EXPECT_TRUE(Call(*connection, "echo", {{"message", "again"}}));
}

TEST_F(StdioConnection, GivesUpAServerWhoseLineIsTooLong) {
  options_.limits.max_message_bytes = 1u << 20;
  options_.grace = 100ms;
  const auto connection = Make();
  const auto oversized = Call(*connection, "oversized");
  ASSERT_FALSE(oversized);
  EXPECT_THAT(oversized.error().message, HasSubstr("a line of more than 1048576 bytes"));
}

TEST_F(StdioConnection, TakesOnlyTheAnswerWithTheRightId) {
  const auto connection = Make();
  EXPECT_EQ(Value("the right one"), Call(*connection, "wrong-id").value());
}

TEST_F(StdioConnection, CallWhoseTimeRunsOutIsCancelled) {
  const auto connection = Make();
  ASSERT_TRUE(connection->Connect());
  const auto late = Call(*connection, "never", Json::object(), Deadline::After(50ms));
  ASSERT_FALSE(late);
  EXPECT_EQ(ErrorCode::kDeadlineExceeded, late.error().code);
  EXPECT_THAT(AwaitState("cancelled"),
              AllOf(HasSubstr("notifications/cancelled"), HasSubstr("time ran out")));
  EXPECT_TRUE(Call(*connection, "echo", {{"message", "go on"}}));
}

TEST_F(StdioConnection, CallThatIsStoppedIsCancelled) {
  const auto connection = Make();
  ASSERT_TRUE(connection->Connect());
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    return Call(*connection, "never", Json::object(), Deadline::Never(), stop.get_token());
  });
  ASSERT_TRUE(Call(*connection, "echo", {{"message", "x"}}));
  stop.request_stop();
  const auto stopped = waiting.get();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(ErrorCode::kClosed, stopped.error().code);
}

TEST_F(StdioConnection, ReportsProgress) {
  const auto connection = Make();
  EXPECT_EQ(Value("done"), Call(*connection, "progress").value());
  EXPECT_EQ("progress step 1\nprogress step 2\n", recorder_->all());
}

TEST_F(StdioConnection, SamplingIsRefused) {
  const auto connection = Make();
  const auto sampled = Call(*connection, "sample");
  ASSERT_TRUE(sampled) << sampled.error().message;
  EXPECT_THAT(sampled->as_text(), HasSubstr("this client does not offer sampling"));
  const auto stateless = Make({"--stateless"});
  const auto refused = Call(*stateless, "sample");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("sampling/createMessage, which is not offered"));
}

class FillingApprover : public Approver {
 public:
  void Ask(const ApprovalRequest& request, Answer answer) override {
    reason = request.reason;
    ApprovalDecision decision{.allowed = true};
    decision.arguments = Value::Map{{Value("name"), Value("Ada")}};
    answer(decision);
  }
  std::string reason;
};

TEST_F(StdioConnection, QuestionsGoToTheApproverInBothRevisions) {
  const auto approver = std::make_shared<FillingApprover>();
  options_.approver = approver;
  const auto connection = Make();
  EXPECT_EQ(Value(R"({"action": "accept", "content": {"name": "Ada"}})"), Call(*connection, "ask").value());
  EXPECT_THAT(approver->reason, HasSubstr("MCP server fake asks you: Who are you?"));
  const auto stateless = Make({"--stateless"});
  EXPECT_EQ(Value(R"([{"action": "accept", "content": {"name": "Ada"}}, "opaque"])"),
            Call(*stateless, "ask").value());
}

TEST_F(StdioConnection, WithoutAnApproverQuestionsAreRefused) {
  const auto connection = Make();
  EXPECT_THAT(Call(*connection, "ask")->as_text(), HasSubstr("-32601"));
  EXPECT_FALSE(Call(*Make({"--stateless"}), "ask"));
}

TEST_F(StdioConnection, StubbornServerIsKilled) {
  options_.grace = 100ms;
  const auto connection = Make({"--stubborn"});
  ASSERT_TRUE(connection->Connect());
  const auto begin = std::chrono::steady_clock::now();
  connection->Close();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_THAT(AwaitState("input ended"), HasSubstr("input ended"));
  const auto after = Call(*connection, "echo", {{"message", "x"}});
  ASSERT_FALSE(after);
  EXPECT_EQ(ErrorCode::kClosed, after.error().code);
}

TEST_F(StdioConnection, ServerThatEndsInOrderIsNotKilled) {
  const auto connection = Make();
  ASSERT_TRUE(connection->Connect());
  const auto begin = std::chrono::steady_clock::now();
  connection->Close();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, options_.grace);
}

// ---- the client ----

TEST_F(StdioConnection, ClientMakesToolsOfAllServers) {
  McpServerConfig other = Config();
  other.name = "other";
  auto client = McpClient::Connect({Config(), other}, {});
  ASSERT_TRUE(client) << client.error().message;
  ToolRegistry own;
  ASSERT_TRUE(own.Add("other_echo", "", [] { return 1; }));
  const auto tools = (*client)->WithTools(&own);
  ASSERT_TRUE(tools);
  std::vector<std::string> names;
  for (const auto& tool : tools->registry->tools()) names.push_back(tool->spec().name);
  EXPECT_THAT(names, AllOf(Contains("other_echo"), Contains("fake_echo"), Contains("other_echo_2"),
                           Contains("fake_wrong_id"), Contains("fake_read_resource"),
                           Contains("other_list_resources")));
  EXPECT_FALSE(tools->notes.empty());
  CallContext context;
  const auto echo = tools->registry->Find("fake_echo");
  EXPECT_EQ("fake_echo(message: str, times: int | None = None) -> object", echo->spec().Signature());
  EXPECT_EQ(
      Value("a"),
      echo->Call(Arguments({{Value("message"), Value("a")}, {Value("times"), Value()}}), context).value());
  EXPECT_EQ(Value("content of fake://a"), tools->registry->Find("fake_read_resource")
                                              ->Call(Arguments({{Value("uri"), Value("fake://a")}}), context)
                                              .value());
  EXPECT_EQ(1u, tools->registry->Find("fake_list_resources")->Call(Arguments({}), context)->as_list().size());
}

TEST_F(StdioConnection, QuestionsInACallGoToWhoeverTheSessionAsks) {
  auto client = McpClient::Connect({Config({"--stateless"})}, {});
  ASSERT_TRUE(client) << client.error().message;
  const auto tools = (*client)->WithTools(nullptr);
  CallContext context;
  context.on_ask = [](const std::string& reason, const Value& details) {
    EXPECT_THAT(reason, HasSubstr("MCP server fake asks you: Who are you?"));
    EXPECT_EQ(7, details.IntOr("age", 0));
    ApprovalDecision decision{.allowed = true};
    decision.arguments = Value::Map{{Value("name"), Value("Ada")}};
    return decision;
  };
  const auto asked = tools->registry->Find("ask")->Call(Arguments({}), context);
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(Value(R"([{"action": "accept", "content": {"name": "Ada"}}, "opaque"])"), *asked);
}

TEST_F(StdioConnection, ToolsTellProgressAndShowImagesBesideStructuredResults) {
  auto client = McpClient::Connect({Config()}, {});
  ASSERT_TRUE(client);
  const auto tools = (*client)->WithTools(nullptr);
  CallContext context;
  std::string told;
  context.on_progress = [&](const ToolProgress& progress) { told += progress.message + ";"; };
  EXPECT_EQ(Value("done"), tools->registry->Find("progress")->Call(Arguments({}), context).value());
  EXPECT_EQ("step 1;step 2;", told);
  const auto sum = tools->registry->Find("add")->Call(
      Arguments({{Value("a"), Value(1)}, {Value("b"), Value(2)}}), context);
  ASSERT_TRUE(sum) << sum.error().message;
  EXPECT_EQ(3, sum->IntOr("sum", 0));
  ASSERT_EQ(1u, context.displays.size());
  EXPECT_TRUE(context.displays[0].Find("image/png")->is_bytes());
}

TEST_F(StdioConnection, ClientReadsAListAgainThatHasChanged) {
  auto client = McpClient::Connect({Config()}, {});
  ASSERT_TRUE(client);
  const auto before = (*client)->WithTools(nullptr);
  EXPECT_EQ(nullptr, before->registry->Find("new_0"));
  CallContext context;
  EXPECT_EQ(Value("changed"), before->registry->Find("change")->Call(Arguments({}), context).value());
  const auto after = (*client)->WithTools(nullptr);
  EXPECT_NE(nullptr, after->registry->Find("new_0"));
}

TEST_F(StdioConnection, ToolsOutliveTheClient) {
  std::shared_ptr<const ToolRegistry> registry;
  {
    auto client = McpClient::Connect({Config()}, {});
    ASSERT_TRUE(client);
    registry = (*client)->WithTools(nullptr)->registry;
  }
  CallContext context;
  EXPECT_EQ(Value("a"),
            registry->Find("echo")->Call(Arguments({{Value("message"), Value("a")}}), context).value());
}

TEST_F(StdioConnection, ClientNamesTheServerThatCannotBeReached) {
  McpServerConfig broken = Config({"--dies-at-start"});
  broken.name = "broken";
  const auto client = McpClient::Connect({Config(), broken}, {});
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message, HasSubstr("MCP server broken: "));
  EXPECT_FALSE(McpClient::Connect({Config(), Config()}, {}));
}

}  // namespace
}  // namespace gloveport
