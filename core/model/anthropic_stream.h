// Answers of the Messages API: as one body, or as the events of a stream. Internal to core/model.
#ifndef GLOVEPORT_CORE_MODEL_ANTHROPIC_STREAM_H_
#define GLOVEPORT_CORE_MODEL_ANTHROPIC_STREAM_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/model/conversation.h"
#include "gloveport/core/model/reply_builder.h"

namespace gloveport {

class AnthropicStream : public ReplyStream {
 public:
  AnthropicStream(const ChatRequest& request, ActionForm form);

  void Begin() override;
  Result<StreamStep> OnEvent(std::string_view name, const Json& data) override;
  bool OnDone() override { return whole(); }
  bool whole() const override { return finished_; }
  bool handed_on() const override { return builder_->handed_on(); }
  std::size_t bytes() const override { return builder_->bytes(); }

  Status ReadBody(const Json& body) override;
  ChatReply Finish(const std::string& model) override;

 private:
  // A block of the content, by its place there.
  struct Block {
    std::string type;
    std::size_t call = 0;      // of a tool_use
    std::size_t thinking = 0;  // of a thinking block: where it is in thinking_
  };

  Status BeginBlock(const Json& block);
  Status AddToBlock(const Json& event);
  void TakeUsage(const Json& usage);
  void TakeStopReason(const Json& data);

  const ChatRequest& request_;
  ActionForm form_;
  std::optional<ReplyBuilder> builder_;
  std::vector<Block> blocks_;
  Json thinking_;  // blocks that the server wants to see again
  TokenUsage counts_;
  bool finished_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_ANTHROPIC_STREAM_H_
