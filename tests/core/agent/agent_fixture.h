// What tests of the agent loop share: a model that plays answers, and a fixture with a runtime whose sessions
// are real.
#ifndef GLOVEPORT_TESTS_CORE_AGENT_AGENT_FIXTURE_H_
#define GLOVEPORT_TESTS_CORE_AGENT_AGENT_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gloveport/core/agent/agent.h"
#include "gloveport/policy/presets.h"

namespace gloveport {

// Plays answers in order and keeps what it was asked. An answer is a text, or computed. Its name may be
// given.
class PlayedModel : public Model {
 public:
  using Answer = std::function<Result<ChatReply>(const ChatRequest&)>;

  explicit PlayedModel(std::vector<std::string> texts) {
    for (std::string& text : texts) {
      answers_.emplace_back([text = std::move(text)](const ChatRequest&) -> Result<ChatReply> {
        return ChatReply{.content = text,
                         .finish_reason = "stop",
                         .usage = {.input_tokens = 100, .output_tokens = 10, .reported = true}};
      });
    }
  }
  void SetName(std::string name) { name_ = std::move(name); }
  void SetForm(ActionForm form) { form_ = form; }
  void Add(Answer answer) { answers_.push_back(std::move(answer)); }
  void RepeatLast() { repeat_last_ = true; }

  const std::string& name() const override { return name_; }
  ActionForm action_form() const override { return form_; }
  Result<ChatReply> Complete(const ChatRequest& request) override {
    const std::size_t at = [&] {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      return requests_.size() - 1;
    }();
    if (at < answers_.size()) return answers_[at](request);
    if (repeat_last_ && !answers_.empty()) return answers_.back()(request);
    return Fail(ErrorCode::kClosed, "the played answers are used up");
  }

  const std::vector<ChatRequest>& requests() const { return requests_; }
  std::string LastMessage() const { return requests_.back().messages.back().content; }

 private:
  std::string name_ = "played";
  ActionForm form_ = ActionForm::kText;
  std::mutex mutex_;  // of requests_ while runs go on
  std::vector<Answer> answers_;
  std::vector<ChatRequest> requests_;
  bool repeat_last_ = false;
};

inline std::string Cell(const std::string& code) { return "Thought: go on.\n```python\n" + code + "\n```"; }

class AgentTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto runtime = Runtime::Create();
    ASSERT_TRUE(runtime.has_value()) << runtime.error().message;
    runtime_ = std::move(*runtime);
  }
  static void TearDownTestSuite() { runtime_.reset(); }

  void SetUp() override {
    ASSERT_NE(runtime_, nullptr);
    session_.policy = PresetPolicy("sandboxed_python").value();
    options_.goal = "Find out what there is to find out.";
    auto probe = runtime_->Open(session_);
    if (!probe && probe.error().code == ErrorCode::kConfinementUnavailable)
      GTEST_SKIP() << probe.error().message;
  }

  AgentResult Run(PlayedModel& model) {
    auto result = Agent(*runtime_, model, session_, options_).Run();
    EXPECT_TRUE(result.has_value()) << result.error().message;
    return result ? std::move(*result) : AgentResult();
  }

  static inline std::unique_ptr<Runtime> runtime_;
  SessionOptions session_;
  AgentOptions options_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_AGENT_AGENT_FIXTURE_H_
