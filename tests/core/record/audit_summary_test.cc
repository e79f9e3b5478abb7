#include "gloveport/core/record/audit_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gloveport {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::vector<Json> Records(std::initializer_list<const char*> lines) {
  std::vector<Json> records;
  for (const char* line : lines) records.push_back(Json::parse(line));
  return records;
}

TEST(AuditSummaryTest, AnswersWhatAReaderAsks) {
  const AuditSummary summary = Summarize(Records({
      R"({"kind":"session","time":"T1","session":"s1","policy":{"name":"default"},
          "layers":{"seccomp":{"active":true},"cgroup":{"active":true}}})",
      R"({"kind":"session","session":"s2","policy":{"name":"open"},
          "layers":{"seccomp":{"active":true},"cgroup":{"active":false}}})",
      R"({"kind":"cell","session":"s1","cell":0})",
      R"({"kind":"verdict","decision":"escalate"})",
      R"({"kind":"approval","approval":1,"subject":"cell","grant":"g"})",
      R"({"kind":"decision","approval":1,"allowed":true,"always":true,"by":"ann","reason":"","grant":"g"})",
      R"({"kind":"approval","approval":2,"tool":"send","grant":"h"})",
      R"({"kind":"decision","approval":2,"allowed":false,"by":"bob","reason":"no","grant":"h"})",
      R"({"kind":"tool_call","tool":"send"})",
      R"({"kind":"tool_result","tool":"send","ok":false,"duration_s":0.5})",
      R"({"kind":"tool_call","tool":"send"})",
      R"({"kind":"refusal","source":"kernel","rule":"syscall","what":"socket"})",
      R"({"kind":"refusal","source":"kernel","rule":"syscall","what":"socket"})",
      R"({"kind":"open","source":"kernel","path":"/etc/passwd","mode":"read","allowed":false})",
      R"({"kind":"open","source":"kernel","path":"/etc/passwd","mode":"read","allowed":false})",
      R"({"kind":"import","module":"json","allowed":true})",
      R"({"kind":"display"})",
      R"({"kind":"state","change":"checkpoint"})",
      R"({"kind":"cell_end","outcome":"ok","usage":{"wall_s":1.5,"cpu_user_s":0.25,"cpu_system_s":0.5,
          "max_rss_bytes":100,"output_bytes":7},"limit":{"message":"wall"},"final_answer":{"value":42}})",
      R"({"kind":"cell","session":"s2","cell":0,"time":"T2"})",
      R"({"kind":"run_end","stop_reason":"final_answer","time":"T3"})",
  }));
  EXPECT_EQ(summary.first_time, "T1");
  EXPECT_EQ(summary.last_time, "T3");
  EXPECT_THAT(summary.sessions, ElementsAre(Pair("s1", "default"), Pair("s2", "open")));
  EXPECT_THAT(summary.layers, ElementsAre("seccomp"));
  EXPECT_THAT(summary.cells, ElementsAre(Pair("ok", 1)));
  EXPECT_EQ(summary.unfinished_cells, 1u);
  EXPECT_THAT(summary.verdicts, ElementsAre(Pair("escalate", 1)));
  ASSERT_EQ(summary.approvals.size(), 2u);
  EXPECT_EQ(summary.approvals[0].subject, "cell");
  EXPECT_TRUE(summary.approvals[0].allowed && summary.approvals[0].always);
  EXPECT_EQ(summary.approvals[1].subject, "send");
  EXPECT_EQ(summary.approvals[1].reason, "no");
  EXPECT_EQ(summary.tools.at("send").calls, 2u);
  EXPECT_EQ(summary.tools.at("send").failed, 1u);
  ASSERT_EQ(summary.attempts.size(), 1u);
  EXPECT_EQ(summary.attempts[0].count, 2u);
  ASSERT_EQ(summary.files.size(), 1u);
  EXPECT_FALSE(summary.files.begin()->allowed);
  EXPECT_THAT(summary.imports, ElementsAre("json"));
  EXPECT_THAT(summary.limits, ElementsAre("wall"));
  EXPECT_THAT(summary.answers, ElementsAre(Json(42)));
  EXPECT_DOUBLE_EQ(summary.wall_s, 1.5);
  EXPECT_DOUBLE_EQ(summary.cpu_s, 0.75);
  EXPECT_EQ(summary.peak_rss_bytes, 100u);
  EXPECT_EQ(summary.output_bytes, 7u);
  EXPECT_EQ(summary.displays, 1u);
  EXPECT_THAT(summary.state_changes, ElementsAre(Pair("checkpoint", 1)));
  EXPECT_EQ(summary.stop_reason, "final_answer");
}

// What the inspector refused did not run, and was tried all the same; what a person may allow is none of it.
TEST(AuditSummaryTest, WhatTheInspectorDeniedWasAnAttempt) {
  const AuditSummary summary = Summarize(Records({
      R"({"kind":"verdict","decision":"deny","findings":[{"rule":"import","message":"import requests"}]})",
      R"({"kind":"verdict","decision":"deny","findings":[{"rule":"import","message":"import requests"}]})",
      R"({"kind":"verdict","decision":"escalate","findings":[{"rule":"pickle","message":"import pickle"}]})",
      R"({"kind":"verdict","decision":"allow","findings":[]})",
  }));
  ASSERT_EQ(summary.attempts.size(), 1u);
  EXPECT_EQ(summary.attempts[0].source, "inspector");
  EXPECT_EQ(summary.attempts[0].what, "import requests");
  EXPECT_EQ(summary.attempts[0].count, 2u);
}

TEST(AuditSummaryTest, MembersThatAreNotAsTheyShouldBeArePassedOver) {
  const AuditSummary summary = Summarize(Records({
      R"({"kind":"session","session":7,"policy":[],"layers":[1]})",
      R"({"kind":"cell_end","outcome":{},"usage":"x","limit":3,"final_answer":[]})",
      R"({"kind":"tool_result","tool":null,"duration_s":"long"})",
      R"({"kind":"decision","approval":-1,"allowed":"yes"})",
      R"({"kind":7})",
      R"([])",
      R"("text")",
      R"(null)",
  }));
  EXPECT_EQ(summary.unfinished_cells, 0u);
  EXPECT_TRUE(summary.answers.empty());
  EXPECT_NO_THROW(DumpJson(ToJson(summary)));
}

TEST(AuditSummaryTest, OfNoRecordsNothing) {
  const AuditSummary summary = Summarize({});
  EXPECT_TRUE(summary.sessions.empty() && summary.cells.empty() && summary.first_time.empty());
}

}  // namespace
}  // namespace gloveport
