#include "gloveport/core/model/conversation.h"

namespace gloveport {

Result<ChatReply> Converse(const JsonEndpoint& endpoint, const ChatRequest& request,
                           const Protocol& protocol) {
  for (int adaptations = 0;; ++adaptations) {
    const Question question = protocol.prepare();
    const Json& sent = question.body;
    ASSIGN_OR_RETURN(
        const auto reply,
        sent.contains("stream")
            ? endpoint.PostForStream(protocol.path, sent, request.deadline, request.cancel, *question.reply)
            : endpoint.Post(protocol.path, sent, request.deadline, request.cancel));
    if (reply.streamed) return question.reply->Finish(protocol.model);
    if (reply.status / 100 == 2) {
      if (auto read = question.reply->ReadBody(reply.body); !read) {
        return tl::unexpected<Error>(endpoint.Malformed(read.error().message));
      }
      return question.reply->Finish(protocol.model);
    }
    if (adaptations == protocol.max_adaptations || !protocol.adapt(reply, sent)) {
      return tl::unexpected<Error>(endpoint.ErrorOf(reply));
    }
  }
}

}  // namespace gloveport
