#include "gloveport/core/serve/session_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "gloveport/core/base/deadline.h"

#include "fake_runtime.h"
#include "protocol_peer.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

constexpr std::string_view kOpen = R"({"id":"open","op":"open","policy":"open"})";

class SessionProtocol : public testing::Test {
 protected:
  std::string ErrorCodeOf(std::string_view line) {
    const Json reply = peer_.Call(line);
    EXPECT_EQ(reply.value("ok", true), false) << line;
    return reply.contains("error") ? reply["error"].value("code", "") : "";
  }

  FakeRuntime runtime_;
  ProtocolPeer peer_{runtime_};
};

TEST_F(SessionProtocol, OpenRunCloseGivesValueOutputAndLayers) {
  const Json opened = peer_.Call(kOpen);
  EXPECT_EQ(
      DumpJson(opened),
      R"({"id":"open","ok":true,"session":"s1","layers":{"fake":{"active":true,"detail":"no process at all"}}})");
  const Json ran = peer_.Call(R"({"id":1,"op":"run","session":"s1","code":"hello"})");
  EXPECT_EQ(ran["ok"], true);
  EXPECT_EQ(ran["result"]["outcome"], "ok");
  EXPECT_EQ(ran["result"]["value"], "hello");
  EXPECT_EQ(peer_.Call(R"({"id":2,"op":"close","session":"s1"})")["ok"], true);
  // The thread that ran the cell may hold the session for a moment after the reply.
  const Deadline soon = Deadline::After(std::chrono::seconds(10));
  while (runtime_.open_sessions != 0 && !soon.passed()) std::this_thread::yield();
  EXPECT_EQ(runtime_.open_sessions, 0);
  EXPECT_EQ(ErrorCodeOf(R"({"id":3,"op":"run","session":"s1","code":"x"})"), "not_found");
}

TEST_F(SessionProtocol, OutputArrivesAsEventsInWholeCharactersBeforeTheReply) {
  peer_.Call(kOpen);
  peer_.Call(R"({"id":1,"op":"run","session":"s1","code":"print ab€yz"})");
  std::string text;
  for (const Json& event : peer_.others) {
    EXPECT_EQ(event["id"], 1);
    EXPECT_EQ(event["event"], "stdout");
    text += event["text"].get<std::string>();
  }
  EXPECT_EQ(text, "ab€yz");
  peer_.others.clear();
  peer_.Call(R"({"id":2,"op":"run","session":"s1","code":"eprint warning"})");
  ASSERT_FALSE(peer_.others.empty());
  EXPECT_EQ(peer_.others[0]["event"], "stderr");
}

TEST_F(SessionProtocol, RequestsMayBeSentWithoutWaitingForReplies) {
  peer_.Send(kOpen);
  peer_.Send(
      R"({"id":1,"op":"set","session":"s1","name":"a","value":{"$int":"123456789012345678901234567890"}})");
  peer_.Send(R"({"id":2,"op":"get","session":"s1","name":"a"})");
  EXPECT_EQ(DumpJson(peer_.ReplyTo(2)["value"]), R"({"$int":"123456789012345678901234567890"})");
}

TEST_F(SessionProtocol, BareIntegersAreExactAtAnySize) {
  peer_.Call(kOpen);
  peer_.Call(R"({"id":1,"op":"set","session":"s1","name":"a","value":[123456789012345678901234567890,-5]})");
  EXPECT_EQ(DumpJson(peer_.Call(R"({"id":2,"op":"get","session":"s1","name":"a"})")["value"]),
            R"([{"$int":"123456789012345678901234567890"},-5])");
}

TEST_F(SessionProtocol, ToolsAreAnsweredByTheClientWithAValueOrAnError) {
  peer_.Call(
      R"({"id":1,"op":"open","tools":[{"name":"lookup","description":"d","parameters":[{"name":"key","type":"string","default":"k"}]}]})");
  peer_.Send(R"({"id":2,"op":"run","session":"s1","code":"call lookup"})");
  Json call = peer_.Event("tool_call");
  EXPECT_EQ(DumpJson(call), R"({"id":2,"event":"tool_call","call":1,"name":"lookup","args":{"key":"k"}})");
  peer_.Send(R"({"op":"tool_reply","call":1,"value":{"$tuple":[1,2]}})");
  EXPECT_EQ(DumpJson(peer_.ReplyTo(2)["result"]["value"]), R"({"$tuple":[1,2]})");

  peer_.Send(R"({"id":3,"op":"run","session":"s1","code":"call lookup"})");
  call = peer_.Event("tool_call");
  peer_.Send(R"({"op":"tool_reply","call":2,"error":"disk full"})");
  EXPECT_EQ(peer_.ReplyTo(3)["result"]["error"]["message"], "disk full");
}

TEST_F(SessionProtocol, AToolReplyThatCannotBeReadFailsTheCallInsteadOfHangingIt) {
  peer_.Call(R"({"id":1,"op":"open","tools":[{"name":"t"}]})");
  for (const std::string_view members :
       {R"("value":{"$int":"x"})", R"("value":{"$bytes":"?"})", R"("valu":1)"}) {
    peer_.Send(R"({"id":2,"op":"run","session":"s1","code":"call t"})");
    const auto call = peer_.Event("tool_call")["call"].get<int>();
    const std::string reply = R"({"id":"r","op":"tool_reply","call":)" + std::to_string(call) + ",";
    EXPECT_EQ(peer_.Call(reply + std::string(members) + "}")["ok"], false);
    if (members.starts_with(R"("valu":)")) peer_.Send(reply + R"("error":"sorry"})");
    EXPECT_EQ(peer_.ReplyTo(2)["result"]["outcome"], "error");
  }
}

TEST_F(SessionProtocol, AToolReplyToNothingIsAnErrorWithItsIdOrNone) {
  EXPECT_EQ(ErrorCodeOf(R"({"id":1,"op":"tool_reply","call":5,"value":1})"), "not_found");
  EXPECT_EQ(ErrorCodeOf(R"({"id":2,"op":"tool_reply","call":"x","value":1})"), "invalid_argument");
  peer_.Send(R"({"op":"tool_reply","call":5,"value":1})");
  const Json reply = peer_.Receive();
  EXPECT_TRUE(reply["id"].is_null());
  EXPECT_EQ(reply["ok"], false);
}

TEST_F(SessionProtocol, InterruptEndsTheRunningCellAndTheSessionGoesOn) {
  peer_.Call(kOpen);
  peer_.Send(R"({"id":1,"op":"run","session":"s1","code":"block"})");
  peer_.Event("stdout");
  peer_.Send(R"({"id":2,"op":"interrupt","session":"s1"})");
  EXPECT_EQ(peer_.ReplyTo(1)["result"]["error"]["type"], "KeyboardInterrupt");
  EXPECT_EQ(peer_.Call(R"({"id":3,"op":"run","session":"s1","code":"after"})")["result"]["value"], "after");
}

TEST_F(SessionProtocol, AnInterruptReachesACellThatWaitsForTheClient) {
  peer_.Call(R"({"id":1,"op":"open","tools":[{"name":"t"}]})");
  peer_.Send(R"({"id":2,"op":"run","session":"s1","code":"call t"})");
  peer_.Event("tool_call");
  peer_.Send(R"({"id":3,"op":"interrupt","session":"s1"})");
  EXPECT_EQ(peer_.ReplyTo(2)["result"]["outcome"], "error");
}

TEST_F(SessionProtocol, SessionsRunBesideEachOther) {
  peer_.Call(kOpen);
  peer_.Call(R"({"id":1,"op":"open"})");
  peer_.Send(R"({"id":2,"op":"run","session":"s1","code":"block"})");
  peer_.Event("stdout");
  EXPECT_EQ(peer_.Call(R"({"id":3,"op":"run","session":"s2","code":"meanwhile"})")["result"]["value"],
            "meanwhile");
  EXPECT_EQ(peer_.Call(R"({"id":4,"op":"check","code":"x"})")["ok"], true);
  peer_.Send(R"({"id":5,"op":"close","session":"s1"})");
  EXPECT_EQ(peer_.ReplyTo(2)["result"]["outcome"], "killed");
}

TEST_F(SessionProtocol, FilesArePutFetchedListedAndRemoved) {
  peer_.Call(kOpen);
  EXPECT_EQ(peer_.Call(R"({"id":1,"op":"put_file","session":"s1","path":"a.csv","data":"YSxi"})")["ok"],
            true);
  EXPECT_EQ(peer_.Call(R"({"id":2,"op":"get_file","session":"s1","path":"a.csv"})")["data"], "YSxi");
  EXPECT_EQ(DumpJson(peer_.Call(R"({"id":3,"op":"list_files","session":"s1"})")["files"]),
            R"([{"path":"a.csv","size":3}])");
  EXPECT_EQ(peer_.Call(R"({"id":4,"op":"remove_file","session":"s1","path":"a.csv"})")["ok"], true);
  EXPECT_EQ(ErrorCodeOf(R"({"id":5,"op":"get_file","session":"s1","path":"a.csv"})"), "not_found");
  EXPECT_EQ(ErrorCodeOf(R"({"id":6,"op":"put_file","session":"s1","path":"a","data":"?"})"),
            "invalid_argument");
}

TEST_F(SessionProtocol, QuestionsNeedNoSession) {
  EXPECT_EQ(
      DumpJson(peer_.Call(
          R"({"id":1,"op":"check","policy":"sandboxed_python","code":"forbidden","tools":["a",{"name":"b"}]})")
                   ["verdict"]),
      R"({"decision":"deny","findings":[{"rule":"import","line":2,"column":3,"message":"sandboxed_python refuses 2 tools","hint":"leave it"}]})");
  EXPECT_EQ(DumpJson(peer_.Call(R"({"id":2,"op":"check","code":"fine"})")["verdict"]),
            R"({"decision":"allow","findings":[]})");
  EXPECT_EQ(DumpJson(peer_.Call(R"({"id":3,"op":"parse","text":"Add.\n```python\n1+1\n```"})")["action"]),
            R"({"code":"1+1","error":null,"thought":"Add."})");
  EXPECT_EQ(peer_.Call(R"({"id":4,"op":"parse","text":""})")["action"]["error"], "empty");
  EXPECT_EQ(
      DumpJson(peer_.Call(R"({"id":5,"op":"validate","value":["x"],"schema":{"type":"integer"}})")["errors"]),
      R"([{"path":"/0","message":"is no integer"}])");
  EXPECT_EQ(
      DumpJson(peer_.Call(R"({"id":6,"op":"validate","value":1,"schema":{"type":"integer"}})")["errors"]),
      "[]");
}

TEST_F(SessionProtocol, AnEditorsQuestionsAreAnswered) {
  peer_.Call(kOpen);
  const Json complete = peer_.Call(R"({"id":2,"op":"complete","session":"s1","code":"abc","cursor":2})");
  EXPECT_EQ(complete["matches"].dump() + complete["start"].dump() + complete["end"].dump(), R"(["abc"]02)");
  EXPECT_EQ(peer_.Call(R"({"id":3,"op":"complete","session":"s1","code":"abc"})")["end"], 3);
  const Json known = peer_.Call(R"({"id":4,"op":"inspect","session":"s1","code":"known","cursor":0})");
  EXPECT_EQ(known["type"], "str");
  EXPECT_FALSE(known.contains("signature")) << "what is not there is left out";
  const Json unknown = peer_.Call(R"({"id":5,"op":"inspect","session":"s1","code":"other"})");
  EXPECT_EQ(unknown["found"], false);
  EXPECT_FALSE(unknown.contains("type"));
  const Json state = peer_.Call(R"({"id":6,"op":"is_complete","session":"s1","code":"x"})");
  EXPECT_EQ(state["status"], "incomplete");
  EXPECT_EQ(state["indent"], "    ");
}

TEST_F(SessionProtocol, BadRequestsAreAnsweredWithTheirIdAndTheConnectionGoesOn) {
  peer_.Call(kOpen);
  const std::array<std::pair<std::string_view, std::string_view>, 20> kCases = {{
      {R"({"id":1,"op":"fly"})", "unsupported"},
      {R"({"id":1,"op":"approve"})", "invalid_argument"},
      {R"({"id":1,"op":"checkpoint","session":"s1"})", "denied"},
      {R"({"id":1,"op":"branch","session":"s1"})", "denied"},
      {R"({"id":1,"op":"complete","session":"s1","code":"x","cursor":-1})", "invalid_argument"},
      {R"({"id":1,"op":"open","options":{"idle_timeout_s":0}})", "invalid_argument"},
      {R"({"id":1,"op":"open","options":{"time_to_live_s":"1"}})", "invalid_argument"},
      {R"({"id":1,"op":"run","session":"s9","code":"x"})", "not_found"},
      {R"({"id":1,"op":"run","code":"x"})", "invalid_argument"},
      {R"({"id":1,"op":"run","session":"s1"})", "invalid_argument"},
      {R"({"id":1,"op":"run","session":"s1","code":1})", "invalid_argument"},
      {R"({"id":1,"op":"run","session":"s1","code":"x","timeout":1})", "invalid_argument"},
      {R"({"id":1,"op":"run","session":"s1","code":"x","timeout_s":-1})", "invalid_argument"},
      {R"({"id":1,"op":"run","session":"s1","code":"x","inspect":"no"})", "invalid_argument"},
      {R"({"id":1,"op":"open","policy":"nonsense"})", "not_found"},
      {R"({"id":1,"op":"open","policy":{"limits":{"wal_s":1}}})", "invalid_argument"},
      {R"({"id":1,"op":"open","policy":7})", "invalid_argument"},
      {R"({"id":1,"op":"open","options":{"color":"red"}})", "invalid_argument"},
      {R"({"id":1,"op":"open","tools":[{"name":"final_answer"}]})", "invalid_argument"},
      {R"({"id":1,"op":"get","session":"s1","name":"missing"})", "not_found"},
  }};
  for (const auto& [line, code] : kCases) EXPECT_EQ(ErrorCodeOf(line), code) << line;
  EXPECT_EQ(peer_.Call(R"({"id":2,"op":"run","session":"s1","code":"still here"})")["result"]["value"],
            "still here");
}

TEST_F(SessionProtocol, MalformedLinesAreAnsweredWithTheIdThatCanBeRead) {
  const std::array<std::pair<std::string_view, Json>, 6> kCases = {{
      {R"({"id":4,"op":"open")", 4},
      {R"({"id":"x","op":"open","op":"open"})", "x"},
      {R"({"op":"run","id":5,"code":"\ud800"})", 5},
      {"nonsense", Json()},
      {"[]", Json()},
      {"{\"id\":6,\"op\":\"parse\",\"text\":\"\xff\"}", 6},
  }};
  for (const auto& [line, id] : kCases) {
    peer_.Send(line);
    const Json reply = peer_.Receive();
    EXPECT_EQ(reply["id"], id) << line;
    EXPECT_EQ(reply["ok"], false) << line;
    EXPECT_EQ(reply["error"]["code"], "invalid_argument") << line;
  }
  peer_.Send("   ");  // a blank line is none
  EXPECT_EQ(peer_.Call(kOpen)["ok"], true);
}

TEST_F(SessionProtocol, InspectFalseIsRefusedWhereInspectionIsRequired) {
  peer_.Call(R"({"id":1,"op":"open","policy":"default"})");
  EXPECT_EQ(ErrorCodeOf(R"({"id":2,"op":"run","session":"s1","code":"x","inspect":false})"), "denied");
  peer_.Call(R"({"id":3,"op":"open","policy":"open"})");
  EXPECT_EQ(peer_.Call(R"({"id":4,"op":"run","session":"s2","code":"x","inspect":false})")["ok"], true);
}

TEST_F(SessionProtocol, ASessionThatCannotBeOpenedSaysWhyAndWhatToDo) {
  runtime_.fail_to_open = true;
  const Json reply = peer_.Call(kOpen);
  EXPECT_EQ(DumpJson(reply["error"]),
            R"({"code":"confinement_unavailable","message":"no seccomp here","hint":"use another kernel"})");
  EXPECT_EQ(ErrorCodeOf(R"({"id":1,"op":"run","session":"s1","code":"x"})"), "not_found");
}

TEST_F(SessionProtocol, EndOfInputLetsReceivedRequestsFinishAndClosesEverything) {
  peer_.Send(kOpen);
  peer_.Send(R"({"id":1,"op":"run","session":"s1","code":"last words"})");
  peer_.CloseInput();
  EXPECT_EQ(peer_.ReplyTo(1)["result"]["value"], "last words");
  EXPECT_TRUE(peer_.WaitForEnd());
  EXPECT_EQ(runtime_.open_sessions, 0);
}

TEST_F(SessionProtocol, EndOfInputFailsToolCallsThatNobodyCanAnswer) {
  peer_.Call(R"({"id":1,"op":"open","tools":[{"name":"t"}]})");
  peer_.Send(R"({"id":2,"op":"run","session":"s1","code":"call t"})");
  peer_.Event("tool_call");
  peer_.CloseInput();
  EXPECT_THAT(peer_.ReplyTo(2)["result"]["error"]["message"].get<std::string>(),
              HasSubstr("client went away"));
  EXPECT_TRUE(peer_.WaitForEnd());
}

TEST_F(SessionProtocol, AClientThatVanishesEndsARunningCell) {
  peer_.Call(kOpen);
  peer_.Send(R"({"id":1,"op":"run","session":"s1","code":"block"})");
  peer_.Event("stdout");
  peer_.CloseOutput();  // noticed though nothing is written and the input stays open
  EXPECT_TRUE(peer_.WaitForEnd());
  EXPECT_EQ(runtime_.open_sessions, 0);
}

TEST(SessionProtocolLimits, ACellThatOutlivesTheLingerIsEndedAndStillAnswered) {
  FakeRuntime runtime;
  ProtocolPeer peer(runtime, {.linger = std::chrono::milliseconds(1)});
  peer.Call(kOpen);
  peer.Send(R"({"id":1,"op":"run","session":"s1","code":"block"})");
  peer.Event("stdout");
  peer.CloseInput();
  EXPECT_EQ(peer.ReplyTo(1)["result"]["outcome"], "killed");
  EXPECT_TRUE(peer.WaitForEnd());
}

TEST(SessionProtocolLimits, ALineThatIsTooLongIsAnsweredAndTheNextIsRead) {
  FakeRuntime runtime;
  ProtocolPeer peer(runtime, {.max_line_bytes = 1000});
  peer.Send(R"({"id":8,"op":"parse","text":")" + std::string(2000, 'x') + "\"}");
  const Json reply = peer.ReplyTo(8);
  EXPECT_EQ(reply["error"]["code"], "resource_exhausted");
  EXPECT_EQ(peer.Call(kOpen)["ok"], true);
}

TEST(SessionProtocolLimits, SessionsBeyondTheLimitAreRefusedAndFailedOnesDoNotCount) {
  FakeRuntime runtime;
  ProtocolPeer peer(runtime, {.max_sessions = 1});
  runtime.fail_to_open = true;
  peer.Call(kOpen);
  runtime.fail_to_open = false;
  EXPECT_EQ(peer.Call(kOpen)["session"], "s2");
  EXPECT_EQ(peer.Call(kOpen)["error"]["code"], "resource_exhausted");
  peer.Call(R"({"id":1,"op":"close","session":"s2"})");
  EXPECT_EQ(peer.Call(kOpen)["session"], "s3");
}

TEST(SessionProtocolTools, ToolsOfTheHostExistBesideTheClients) {
  FakeRuntime runtime;
  SessionProtocolOptions options;
  options.add_tools =
      [](std::shared_ptr<const ToolRegistry> own) -> Result<std::shared_ptr<const ToolRegistry>> {
    auto all = std::make_shared<ToolRegistry>();
    for (const auto& tool : own->tools()) RETURN_IF_ERROR(all->Add(tool));
    RETURN_IF_ERROR(all->Add("of_host", "", [] { return std::string("from the host"); }));
    return all;
  };
  ProtocolPeer peer(runtime, options);
  peer.Call(R"({"id":1,"op":"open","policy":"open","tools":[{"name":"of_client"}]})");
  EXPECT_EQ(peer.Call(R"({"id":2,"op":"run","session":"s1","code":"call of_host"})")["result"]["value"],
            "from the host");
  peer.Send(R"({"id":3,"op":"run","session":"s1","code":"call of_client"})");
  EXPECT_EQ(peer.Event("tool_call")["name"], "of_client");
}

}  // namespace
}  // namespace gloveport
