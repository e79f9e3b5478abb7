// Answers of the Responses API: as one body, or as the events of a stream. Internal to core/model.
#ifndef GLOVEPORT_CORE_MODEL_OPENAI_RESPONSES_STREAM_H_
#define GLOVEPORT_CORE_MODEL_OPENAI_RESPONSES_STREAM_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "gloveport/core/model/conversation.h"
#include "gloveport/core/model/reply_builder.h"

namespace gloveport {

class OpenAiResponsesStream : public ReplyStream {
 public:
  OpenAiResponsesStream(const ChatRequest& request, ActionForm form);

  void Begin() override;
  Result<StreamStep> OnEvent(std::string_view name, const Json& data) override;
  bool OnDone() override { return whole(); }
  bool whole() const override { return false; }  // only the last event says how it ended
  bool handed_on() const override { return builder_->handed_on(); }
  std::size_t bytes() const override { return builder_->bytes(); }
  const Json* ErrorIn(std::string_view name, const Json& data) const override;

  Status ReadBody(const Json& body) override;
  ChatReply Finish(const std::string& model) override;

 private:
  Status TakeDelta(std::string_view type, const Json& event);
  Status BeginItem(const Json& event);
  Status TakeWholeItem(const Json& item);
  void EndItem(const Json& item);
  void TakeFrame(const Json& response);  // what stands around the output

  const ChatRequest& request_;
  ActionForm form_;
  std::optional<ReplyBuilder> builder_;
  std::map<std::int64_t, std::size_t> calls_;  // by their index in the output
  Json reasoning_;                             // items that the server wants to see again
  bool refused_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_OPENAI_RESPONSES_STREAM_H_
