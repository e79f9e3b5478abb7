// Runs that are kept, and the lines for training that are made of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

#include "gloveport/core/agent/run_store.h"
#include "gloveport/core/agent/trace_export.h"
#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/wire/json_members.h"
#include "gloveport/tests/core/agent/agent_fixture.h"
#include "gloveport/tests/support/temporary_folder.h"

namespace gloveport {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class TracesTest : public AgentTest {
 protected:
  void SetUp() override {
    AgentTest::SetUp();
    auto store = RunStore::Open(folder_.path() / "runs");
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = std::make_unique<RunStore>(std::move(*store));
  }

  std::string Keep(std::vector<std::string> replies) {
    PlayedModel model(std::move(replies));
    Agent agent(*runtime_, model, session_, options_);
    const auto result = agent.Run();
    EXPECT_TRUE(result.has_value());
    const auto id = store_->Save(*result, {.memory = agent.SaveMemory(), .audit = ""},
                                 Redactor::Compile(session_.policy).value());
    EXPECT_TRUE(id.has_value()) << id.error().message;
    return *id;
  }

  TemporaryFolder folder_;
  std::unique_ptr<RunStore> store_;
};

TEST_F(TracesTest, ARunIsKeptForItsOwnerOnlyAndFound) {
  const std::string id = Keep({Cell("print('hi')"), Cell("final_answer(1)")});
  struct stat file {};
  struct stat folder {};
  ASSERT_EQ(::stat((store_->folder() / (id + ".json")).c_str(), &file), 0);
  ASSERT_EQ(::stat(store_->folder().c_str(), &folder), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  EXPECT_EQ(folder.st_mode & 0777, 0700u);
  for (const std::string& name :
       {id, id.substr(0, 17), std::string("last"), (store_->folder() / (id + ".json")).string()}) {
    const auto run = store_->Load(name);
    ASSERT_TRUE(run.has_value()) << name << ": " << run.error().message;
    EXPECT_EQ(TextOf(*run, "id"), id);
    EXPECT_EQ(TextOf(MemberOf(*run, "run"), "stop_reason"), "final_answer");
  }
  EXPECT_THAT(store_->List().value(), SizeIs(1));
  EXPECT_FALSE(store_->Load("1999").has_value());
  ASSERT_TRUE(WriteFile(store_->folder() / "20990101-000000-0000.json", "{}").has_value());
  EXPECT_EQ(store_->Load("20990101").error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(store_->List().value(), SizeIs(1));
}

TEST_F(TracesTest, SecretsAreNotKept) {
  const std::string id =
      Keep({Cell("print('Bearer ' + 'a1B2' * 10, 'token: Bearer " + std::string(40, 'q') + "')"),
            Cell("final_answer(1)")});
  const auto text = ReadFile(store_->folder() / (id + ".json"));
  ASSERT_TRUE(text.has_value());
  EXPECT_THAT(*text, Not(HasSubstr("a1B2a1B2")));
  EXPECT_THAT(*text, Not(HasSubstr(std::string(40, 'q'))));
  EXPECT_THAT(*text, HasSubstr("[redacted:"));
}

TEST_F(TracesTest, LinesOfEachFormatFitTheirSchema) {
  Keep({"no code here", Cell("1 / 0"), Cell("print('seen')"), Cell("final_answer({'n': 1}, 'Counted.')")});
  options_.schema = Value::Object({{"type", "integer"}});
  Keep({Cell("final_answer(7)")});
  const auto runs = store_->List().value();
  for (const TraceFormat format : {TraceFormat::kOpenAiChat, TraceFormat::kShareGpt, TraceFormat::kCodeAct}) {
    TraceExporter exporter({.format = format});
    const auto schema = FromPlainJson(TraceSchema(format));
    int lines = 0;
    for (const Json& run : runs) {
      const auto line = exporter.Line(run);
      ASSERT_TRUE(line.has_value() && line->has_value());
      const auto errors = runtime_->Validate(FromPlainJson(**line), schema);
      ASSERT_TRUE(errors.has_value()) << errors.error().message;
      for (const auto& error : *errors)
        ADD_FAILURE() << TraceFormatName(format) << " " << error.path << ": " << error.message;
      ++lines;
      Json broken = **line;
      broken.erase(broken.begin());
      EXPECT_FALSE(runtime_->Validate(FromPlainJson(broken), schema)->empty());
    }
    EXPECT_EQ(lines, 2);
    EXPECT_EQ(ParseTraceFormat(TraceFormatName(format)), format);
  }
}

TEST_F(TracesTest, AChatLineIsTheConversationInTheFormOfThePrompt) {
  Keep({"Sure!\n<code>\nprint('seen')\n</code>", Cell("final_answer(1)")});
  const auto line = TraceExporter({}).Line(store_->Load("last").value());
  ASSERT_TRUE(line.has_value() && line->has_value());
  const Json& messages = MemberOf(**line, "messages");
  ASSERT_THAT(messages, SizeIs(5));
  EXPECT_EQ(TextOf(messages[0], "role"), "system");
  EXPECT_EQ(TextOf(messages[2], "content"), "Thought: Sure!\n```python\nprint('seen')\n```");
  EXPECT_THAT(TextOf(messages[3], "content"), HasSubstr("| seen"));
  EXPECT_EQ(TextOf(messages[4], "role"), "assistant");
}

TEST_F(TracesTest, FiltersAndDuplicates) {
  Keep({Cell("1 / 0"), Cell("final_answer(1)")});
  Keep({Cell("1 / 0"), Cell("final_answer(1)")});  // the same again
  Keep({Cell("x = 1")});                           // its script ends: no answer
  options_.schema = Value::Object({{"type", "integer"}});
  Keep({Cell("final_answer(2)")});
  const auto runs = store_->List().value();
  const auto count = [&](TraceOptions options) {
    TraceExporter exporter(std::move(options));
    std::size_t lines = 0;
    for (const Json& run : runs) lines += exporter.Line(run).value().has_value() ? 1 : 0;
    EXPECT_EQ(lines + exporter.filtered() + exporter.duplicates(), runs.size());
    return lines;
  };
  EXPECT_EQ(count({}), 3u);
  EXPECT_EQ(count({.keep_duplicates = true}), 4u);
  EXPECT_EQ(count({.only_successes = true}), 2u);
  EXPECT_EQ(count({.only_validated = true}), 1u);
  TraceExporter dropping({.format = TraceFormat::kCodeAct, .drop_failed_steps = true});
  const auto line = dropping.Line(runs.back());
  EXPECT_THAT(MemberOf(**line, "steps"), SizeIs(1));
  EXPECT_FALSE(TraceExporter({}).Line(Json::object()).has_value());
}

}  // namespace
}  // namespace gloveport
