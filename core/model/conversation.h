// Converse: one request to a model's server and its reply, by whichever protocol, asked again without what
// the server refuses. Internal to core/model.
#ifndef GLOVEPORT_CORE_MODEL_CONVERSATION_H_
#define GLOVEPORT_CORE_MODEL_CONVERSATION_H_

#include <functional>
#include <memory>
#include <string>

#include "gloveport/core/model/event_stream.h"
#include "gloveport/core/model/json_endpoint.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

// A reply that is being read.
class ReplyStream : public StreamHandler {
 public:
  // A body in place of a stream. The error's text says what is wrong with it.
  virtual Status ReadBody(const Json& body) = 0;
  // The reply, once it is whole; `model` names it where the server did not.
  virtual ChatReply Finish(const std::string& model) = 0;
};

struct Question {
  Json body;  // with a member "stream" where a stream is asked for
  std::unique_ptr<ReplyStream> reply;
};

struct Protocol {
  std::string path;
  std::string model;
  std::function<Question()> prepare;
  // Learns from a refusal what to leave out. True if another try may succeed.
  std::function<bool(const JsonReply& refusal, const Json& sent)> adapt;
  int max_adaptations = 8;
};

Result<ChatReply> Converse(const JsonEndpoint& endpoint, const ChatRequest& request,
                           const Protocol& protocol);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_CONVERSATION_H_
