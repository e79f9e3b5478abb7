#include "gloveport/core/model/code_stream.h"

#include <gtest/gtest.h>

#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

// All that comes of `json` when it arrives in pieces of `size` bytes.
CodeStream::Pieces Read(std::string_view json, std::size_t size) {
  CodeStream stream;
  CodeStream::Pieces all;
  while (!json.empty()) {
    const auto pieces = stream.Take(json.substr(0, size));
    all.thought += pieces.thought;
    all.code += pieces.code;
    json.remove_prefix(std::min(size, json.size()));
  }
  return all;
}

TEST(CodeStream, FindsBothTextsHoweverTheyAreCut) {
  const std::string code = "x = {'a': [1, 2]}\nprint(\"\\n\", '\\\\')\t# \xc3\xa4 \xf0\x9f\x99\x82\n";
  const std::string json = DumpJson(
      Json{{"thought", "first \"this\""}, {"other", {{"code", "not this, }"}}}, {"n", 1}, {"code", code}});
  for (const std::size_t size : {1, 2, 3, 7, 1000}) {
    const auto read = Read(json, size);
    EXPECT_EQ(read.thought, "first \"this\"") << size;
    EXPECT_EQ(read.code, code) << size;
  }
}

TEST(CodeStream, UnpacksEveryEscape) {
  for (const std::size_t size : {1, 5, 100}) {
    EXPECT_EQ(Read(R"({"code": "\"\\\/\b\f\n\r\t\u0041\u00e4\u20ac\ud83d\ude42"})", size).code,
              "\"\\/\b\f\n\r\tA\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82");
    EXPECT_EQ(Read(R"({"code": "a\ud83dz\ude42"})", size).code, "a\xef\xbf\xbdz\xef\xbf\xbd");
    EXPECT_EQ(Read(R"({"code": "a\ud83d"})", size).code, "a\xef\xbf\xbd");
  }
}

TEST(CodeStream, HandsOnWhatIsThereAtOnce) {
  CodeStream stream;
  EXPECT_EQ(stream.Take(R"({"thought": "so)").thought, "so");
  EXPECT_EQ(stream.Take(R"(me", "co)").thought, "me");
  EXPECT_EQ(stream.Take(R"(de": "a\)").code, "a");
  EXPECT_EQ(stream.Take("nb").code, "\nb");
}

TEST(CodeStream, OfWhatIsNoSuchObjectNothingComes) {
  for (const char* json :
       {"", "print(1)", "[\"code\"]", R"({"code": 7})", R"({"code": null, "thought": [1]})",
        R"({"code" "x"})", R"({code: "x"})", R"({"Code": "x"})", R"({"a": {"code": "x"}})",
        R"({"a": "\"code\": \"x\""})", R"({"a": [{"code": "x"}]} {"code": "x"})"}) {
    for (const std::size_t size : {1, 100}) {
      EXPECT_EQ(Read(json, size).code, "") << json;
      EXPECT_EQ(Read(json, size).thought, "") << json;
    }
  }
  EXPECT_EQ(Read(R"({"code": "ab\qcd"})", 1).code, "ab");
  EXPECT_EQ(Read(R"({"code": "ab\u00zz"})", 1).code, "ab");
  EXPECT_EQ(Read("{\"" + std::string(100'000, 'k') + "\": 1, \"code\": \"x\"}", 10).code, "x");
}

}  // namespace
}  // namespace gloveport
