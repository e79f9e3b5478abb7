// Chat completions as they are answered: as one body, or as the chunks of a stream. Internal to core/model.
#ifndef GLOVEPORT_CORE_MODEL_OPENAI_CHAT_STREAM_H_
#define GLOVEPORT_CORE_MODEL_OPENAI_CHAT_STREAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/model/conversation.h"
#include "gloveport/core/model/reply_builder.h"

namespace gloveport {

class OpenAiChatStream : public ReplyStream {
 public:
  enum class Usage { kExpected, kNotExpected };

  OpenAiChatStream(const ChatRequest& request, ActionForm form, Usage usage);

  void Begin() override;
  Result<StreamStep> OnEvent(std::string_view name, const Json& data) override;
  bool OnDone() override { return any_choice_; }
  bool whole() const override { return finished_; }
  bool handed_on() const override { return builder_->handed_on(); }
  std::size_t bytes() const override { return builder_->bytes(); }

  Status ReadBody(const Json& body) override;
  ChatReply Finish(const std::string& model) override;

 private:
  Status TakeMessage(const Json& message);  // of a whole body, or what a chunk adds to it
  Status TakeCalls(const Json& calls);
  void TakeFrame(const Json& data);  // what stands around the choices

  const ChatRequest& request_;
  ActionForm form_;
  Usage usage_;
  std::optional<ReplyBuilder> builder_;
  std::vector<std::int64_t> call_indexes_;  // as the server numbers them, in order of their first piece
  bool any_choice_ = false;
  bool finished_ = false;
  bool refused_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_OPENAI_CHAT_STREAM_H_
