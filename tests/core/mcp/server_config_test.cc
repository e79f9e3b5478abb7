#include "gloveport/core/mcp/server_config.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/mcp/elicitation.h"
#include "gloveport/core/mcp/protocol.h"
#include "gloveport/core/mcp/request_headers.h"
#include "gloveport/core/mcp/server_process.h"

namespace gloveport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json J(const std::string& text) { return ParseJson(text).value(); }

std::optional<std::string> Environment(const std::string& name) {
  if (name == "TOKEN") return "secret";
  return std::nullopt;
}

TEST(ParseMcpConfig, ReadsTheUsualFile) {
  const auto servers = ParseMcpConfig(R"({
    // as other clients have it
    "mcpServers": {
      "files": {"command": "npx", "args": ["-y", "x", "${DIR:-/data}"], "env": {"KEY": "a${TOKEN}b"}, "cwd": "/tmp",
                "timeout_s": 1.5},
      "wiki": {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"},
               "autoApprove": []},
      "off": {"command": "x", "disabled": true}
    }})",
                                      Environment);
  ASSERT_TRUE(servers) << servers.error().message;
  ASSERT_EQ(2u, servers->size());
  EXPECT_THAT((*servers)[0].command.argv, ElementsAre("npx", "-y", "x", "/data"));
  EXPECT_EQ("asecretb", (*servers)[0].command.env.at("KEY"));
  EXPECT_EQ("/tmp", (*servers)[0].command.folder);
  EXPECT_EQ(std::chrono::milliseconds(1500), (*servers)[0].call_time);
  EXPECT_EQ("Bearer secret", (*servers)[1].headers[0].value);
}

TEST(ParseMcpConfig, NamesServerAndKeyOfWhatIsWrong) {
  struct Case {
    const char* server;
    const char* problem;
  };
  const Case kCases[] = {
      {R"({})", "either \"command\" or \"url\""},
      {R"({"command":"a","url":"http://b/"})", "either \"command\" or \"url\""},
      {R"({"command":"a","arguments":[]})", "unknown key \"arguments\""},
      {R"({"command":"a","disabledTools":["x"]})", "unknown key \"disabledTools\""},
      {R"({"command":"a","args":"b"})", "\"args\" must be a list"},
      {R"({"command":"a","args":[1]})", "\"args\" must be text"},
      {R"({"command":"a","env":{"A":"${MISSING}"}})", "the variable MISSING is not set"},
      {R"({"command":"a","env":{"A=B":"c"}})", "a name that no variable can have"},
      {R"({"command":"a","type":"http"})", "does not fit"},
      {R"({"url":"http://a/","type":"sse"})", "\"sse\""},
      {R"({"url":"ftp://a/"})", "MCP server s"},
      {R"({"url":"http://u:p@a/"})", "user name or password"},
      {R"({"url":"http://a/","headers":{"A":"x\r\nB: y"}})", "MCP server s"},
      {R"({"command":"a","timeout_s":0})", "timeout_s"},
      {R"({"command":"a","revision":"1999-01-01"})", "revision"},
      {R"(3)", "must be an object"},
  };
  for (const Case& c : kCases) {
    const auto servers = ParseMcpConfig(std::string(R"({"mcpServers":{"s":)") + c.server + "}}", Environment);
    ASSERT_FALSE(servers) << c.server;
    EXPECT_THAT(servers.error().message, HasSubstr(c.problem)) << c.server;
    EXPECT_THAT(servers.error().message, HasSubstr("MCP server s")) << c.server;
  }
  EXPECT_FALSE(ParseMcpConfig("{}", Environment));
  EXPECT_FALSE(ParseMcpConfig(R"({"mcpServers":{"a b":{"command":"x"}}})", Environment));
}

TEST(ParseMcpServer, SplitsWordsAsAShellDoes) {
  EXPECT_THAT(ParseMcpServer(R"(f=npx -y  "a b" 'c"d' e\ f "" x=y)")->command.argv,
              ElementsAre("npx", "-y", "a b", "c\"d", "e f", "", "x=y"));
  EXPECT_EQ("http://127.0.0.1:1/mcp", ParseMcpServer("f=http://127.0.0.1:1/mcp")->url);
  for (const char* text : {"npx", "=npx", "a b=npx", "f=", "f=  ", "f='x", "f=http://"}) {
    EXPECT_FALSE(ParseMcpServer(text)) << text;
  }
}

TEST(CleanEnvironment, HasNothingOfOursButAFewAndWhatIsNamed) {
  ::setenv("GLOVEPORT_TEST_SECRET", "x", 1);
  const auto environment = CleanEnvironment({{"PATH", "/only"}, {"A", "b"}});
  EXPECT_THAT(environment, ::testing::Contains("PATH=/only"));
  EXPECT_THAT(environment, ::testing::Contains("A=b"));
  for (const std::string& entry : environment) EXPECT_THAT(entry, ::testing::Not(HasSubstr("SECRET")));
}

// ---- the protocol's words ----

TEST(ServerProcess, HasItsStreamsWhereTheHostHasNoStandardInput) {
  const UniqueFd saved(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  ::close(STDIN_FILENO);  // so that the server's pipe lies there
  ServerCommand command;
  command.argv = {"/bin/cat"};
  auto process = ServerProcess::Start(command);
  ASSERT_TRUE(process) << process.error().message;
  UniqueFd input = process->TakeInput();
  EXPECT_TRUE(WriteFull(input.get(), AsBytes("hello"), Deadline::After(std::chrono::seconds(10))));
  EXPECT_TRUE(WaitFor(process->output().get(), POLLIN, Deadline::After(std::chrono::seconds(10))));
  std::string said;
  EXPECT_TRUE(ReadAvailable(process->output().get(), 100, said));
  EXPECT_EQ("hello", said);
  input.reset();
  EXPECT_EQ("with exit code 0", process->Wait());
  if (saved) ::dup2(saved.get(), STDIN_FILENO);
}

TEST(NewestRevision, IsTheNewestThatBothKnow) {
  EXPECT_EQ("2026-07-28", NewestRevision({"2025-11-25", "2026-07-28", "2099-01-01"}));
  EXPECT_EQ("2025-06-18", NewestRevision({"2025-03-26", "2025-06-18"}));
  EXPECT_EQ(std::nullopt, NewestRevision({"2099-01-01"}));
}

TEST(HeaderText, EncodesWhatCannotStandInAHeader) {
  EXPECT_EQ("us-west1", HeaderText("us-west1"));
  EXPECT_EQ("=?base64?SGVsbG8sIOS4lueVjA==?=", HeaderText("Hello, 世界"));
  EXPECT_EQ("=?base64?IHBhZGRlZCA=?=", HeaderText(" padded "));
  EXPECT_EQ("=?base64?bGluZTEKbGluZTI=?=", HeaderText("line1\nline2"));
  EXPECT_EQ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", HeaderText("=?base64?literal?="));
}

TEST(ArgumentHeaders, MirrorsTheArgumentsThatAreThere) {
  const auto headers =
      ArgumentHeaders({{"Region", {"region"}}, {"N", {"o", "n"}}, {"Gone", {"gone"}}, {"B", {"b"}}},
                      J(R"({"region":"eu","o":{"n":-7},"gone":null,"b":true})"));
  ASSERT_EQ(3u, headers.size());
  EXPECT_EQ((HttpHeader{"Mcp-Param-Region", "eu"}), headers[0]);
  EXPECT_EQ((HttpHeader{"Mcp-Param-N", "-7"}), headers[1]);
  EXPECT_EQ((HttpHeader{"Mcp-Param-B", "true"}), headers[2]);
}

// ---- elicitation ----

// Answers at once, as it was told to.
class FakeApprover : public Approver {
 public:
  void Ask(const ApprovalRequest& request, Answer answer) override {
    asked.push_back(request);
    if (decision) {
      answer(*decision);
    } else {
      waiting.push_back(std::move(answer));
    }
  }
  void Withdraw(std::uint64_t id) override { withdrawn.push_back(id); }

  std::optional<ApprovalDecision> decision;
  std::vector<ApprovalRequest> asked;
  std::vector<Answer> waiting;
  std::vector<std::uint64_t> withdrawn;
};

const char* const kForm = R"({"message":"Who\u001b[2J?","requestedSchema":{"type":"object","properties":{
  "name":{"type":"string","title":"Your name"},"age":{"type":"integer","default":7},
  "colour":{"type":"string","enum":["red","blue"]}},"required":["name"]}})";

Json AnswerTo(const std::string& form, std::optional<ApprovalDecision> decision) {
  const auto approver = std::make_shared<FakeApprover>();
  approver->decision = std::move(decision);
  const auto elicitor = std::make_shared<Elicitor>(approver, "srv");
  return elicitor->AskAndWait(ParseElicitation(J(form)).value(),
                              Deadline::After(std::chrono::milliseconds(20)), {});
}

TEST(Elicitor, AsksWithTheFieldsAsArguments) {
  const auto approver = std::make_shared<FakeApprover>();
  const auto elicitor = std::make_shared<Elicitor>(approver, "srv");
  elicitor->Ask(ParseElicitation(J(kForm)).value(), Deadline::Never(), [](const Json&) {});
  ASSERT_EQ(1u, approver->asked.size());
  EXPECT_EQ("srv.elicitation", approver->asked[0].tool);
  EXPECT_EQ(7, approver->asked[0].arguments.IntOr("age", 0));
  EXPECT_THAT(approver->asked[0].reason, HasSubstr("MCP server srv asks you: Who\\x1b[2J?"));
  EXPECT_THAT(approver->asked[0].reason, HasSubstr("name: str (required) - Your name"));
  elicitor->WithdrawAll();
  EXPECT_EQ(approver->asked[0].id, approver->withdrawn.at(0));
}

TEST(Elicitor, SendsWhatWasAllowedAndFits) {
  ApprovalDecision filled{.allowed = true};
  filled.arguments =
      Value::Map{{Value("name"), Value("Ada")}, {Value("age"), Value(36)}, {Value("colour"), Value()}};
  EXPECT_EQ(J(R"({"action":"accept","content":{"name":"Ada","age":36}})"), AnswerTo(kForm, filled));
  EXPECT_EQ(J(R"({"action":"decline"})"), AnswerTo(kForm, ApprovalDecision{.allowed = false}));
  EXPECT_EQ(J(R"({"action":"cancel"})"), AnswerTo(kForm, std::nullopt));  // nobody answers
  // Allowed as it was: but the name is required.
  EXPECT_EQ(J(R"({"action":"cancel"})"), AnswerTo(kForm, ApprovalDecision{.allowed = true}));
  EXPECT_EQ(J(R"({"action":"accept","content":{}})"),
            AnswerTo(R"({"message":"Go on?","requestedSchema":{"type":"object","properties":{}}})",
                     ApprovalDecision{.allowed = true}));
}

TEST(Elicitor, SendsNothingThatDoesNotFitTheForm) {
  const auto form = ParseElicitation(J(kForm)).value();
  for (const Value::Map& content :
       {Value::Map{{Value("name"), Value(3)}},
        Value::Map{{Value("name"), Value("a")}, {Value("age"), Value("x")}},
        Value::Map{{Value("name"), Value("a")}, {Value("colour"), Value("green")}},
        Value::Map{{Value("name"), Value("a")}, {Value("other"), Value("b")}}}) {
    Value::Map copy = content;
    EXPECT_FALSE(CheckElicited(form, copy));
  }
  Value::Map good{{Value("name"), Value("a")}, {Value("colour"), Value("blue")}};
  EXPECT_TRUE(CheckElicited(form, good));
}

TEST(ParseElicitation, RefusesWhatIsNoFlatForm) {
  for (const char* text : {R"({"mode":"url","url":"https://a/","message":"m"})", R"({"message":"m"})",
                           R"({"message":"m","requestedSchema":{"properties":{"a":{"type":"object"}}}})",
                           R"({"message":"m","requestedSchema":{"properties":{"a\n":{"type":"string"}}}})"}) {
    EXPECT_FALSE(ParseElicitation(J(text))) << text;
  }
}

}  // namespace
}  // namespace gloveport
