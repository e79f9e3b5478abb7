#include "gloveport/core/host/result_json.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace gloveport {
namespace {

using std::chrono::milliseconds;

TEST(ResultJson, ACellWithoutValueHasNulls) {
  const Json json = ToJson(CellResult());
  EXPECT_EQ(json["outcome"], "ok");
  EXPECT_EQ(json["state"], "kept");
  for (const char* key : {"value", "repr", "type", "error", "final_answer"}) {
    ASSERT_TRUE(json.contains(key)) << key;
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_EQ(json["displays"], Json::array());
  EXPECT_EQ(json["tool_calls"], Json::array());
  EXPECT_EQ(DumpJson(json["truncated"]), R"({"stdout_bytes":0,"stderr_bytes":0})");
  EXPECT_FALSE(json.contains("limit"));
}

TEST(ResultJson, WhatJsonLacksTravelsAsForms) {
  CellResult result;
  result.type = "list";
  result.repr = "[...]";
  result.value =
      Value(Value::List{Value(std::numeric_limits<double>::infinity()), Value(std::int64_t{1} << 60),
                        Value(Value::Bytes{std::byte{'h'}, std::byte{'i'}})});
  EXPECT_EQ(DumpJson(ToJson(result)["value"]),
            R"([{"$float":"inf"},{"$int":"1152921504606846976"},{"$bytes":"aGk="}])");
}

TEST(ResultJson, AnErrorSaysWhereItHappened) {
  CellResult result;
  result.outcome = Outcome::kError;
  result.error = PythonError{"ValueError", "bad", 3, 1, "trace"};
  EXPECT_EQ(DumpJson(ToJson(result)["error"]),
            R"({"type":"ValueError","message":"bad","line":3,"cell":1,"traceback":"trace"})");
  result.error->line = 0;  // none is known
  EXPECT_TRUE(ToJson(result)["error"]["line"].is_null());
}

TEST(ResultJson, ToolCallsFinalAnswerAndLimitsAreThere) {
  CellResult result;
  result.tool_calls = {{1, "f", Value::Object({{"a", Value(1)}}), true, Value(2), "", milliseconds(1500)},
                       {2, "g", Value(Value::Map()), false, Value(), "no", milliseconds(0)}};
  result.final_answer = FinalAnswerValue{Value(5), "5", "five"};
  result.limit = LimitHit{"wall", "wall time: 5 s limit reached"};
  const Json json = ToJson(result);
  EXPECT_EQ(DumpJson(json["tool_calls"][0]),
            R"({"name":"f","args":{"a":1},"ok":true,"value":2,"duration_s":1.5})");
  EXPECT_EQ(DumpJson(json["tool_calls"][1]),
            R"({"name":"g","args":{},"ok":false,"error":"no","duration_s":0.0})");
  EXPECT_EQ(DumpJson(json["final_answer"]), R"({"value":5,"repr":"5","explanation":"five"})");
  EXPECT_EQ(json["limit"]["limit"], "wall");
}

TEST(ResultJson, OutputThatIsNoTextStaysValidJson) {
  CellResult result;
  result.out = "a\xff";
  EXPECT_EQ(ToJson(result)["stdout"], "a\uFFFD");
}

TEST(ResultJson, LayersAreListedByNameWithTheirRemedy) {
  const Json json =
      ToJson(std::vector<LayerStatus>{{"seccomp", true, "refused a socket", ""},
                                      {"landlock", false, "kernel too old", "boot 5.13 or later"}});
  EXPECT_EQ(DumpJson(json),
            R"({"seccomp":{"active":true,"detail":"refused a socket"},)"
            R"("landlock":{"active":false,"detail":"kernel too old","remedy":"boot 5.13 or later"}})");
}

}  // namespace
}  // namespace gloveport
