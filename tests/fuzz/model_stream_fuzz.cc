// The stream of a model's server: however its bytes are cut, the same comes of it, and what was handed on is
// the reply.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "gloveport/core/model/anthropic_stream.h"
#include "gloveport/core/model/openai_chat_stream.h"
#include "gloveport/core/model/openai_responses_stream.h"

#include "fuzz_input.h"

namespace gloveport {
namespace {

struct Came {
  std::string content;  // as it was handed on
  std::optional<ChatReply> reply;
  std::optional<Error> error;
  std::string document;
};

std::unique_ptr<ReplyStream> HandlerFor(unsigned kind, const ChatRequest& request) {
  if (kind % 3 == 0)
    return std::make_unique<OpenAiChatStream>(request, request.form, OpenAiChatStream::Usage::kExpected);
  if (kind % 3 == 1) return std::make_unique<OpenAiResponsesStream>(request, request.form);
  return std::make_unique<AnthropicStream>(request, request.form);
}

Came Read(unsigned kind, std::string_view body, std::size_t piece) {
  Came came;
  ChatRequest request;
  request.stop = {"END", "\n\n"};
  request.form = static_cast<ActionForm>((kind / 3) % 3);
  request.on_delta = [&](const ChatDelta& delta) {
    PROMISE(!delta.text.empty());
    if (delta.kind == ChatDelta::Kind::kContent) came.content += delta.text;
  };
  const auto handler = HandlerFor(kind, request);
  EventStream stream(*handler, 16'384, {.max_line_bytes = 4096, .max_event_bytes = 8192});
  HttpResponse head{200, {}, ""};
  if (kind & 64) head.headers.push_back({"Content-Type", "text/event-stream"});
  stream.TakeHead(head);
  bool more = true;
  while (more && !body.empty()) {
    more = stream.TakeBody(body.substr(0, piece));
    body.remove_prefix(std::min(piece, body.size()));
  }
  stream.End(std::nullopt);
  if (stream.failure()) {
    came.error = stream.failure()->error;
    PROMISE(!came.error->message.empty());
  } else if (stream.is_document()) {
    came.document = stream.TakeDocument();
    if (const auto json = ParseJson(came.document); json && handler->ReadBody(*json))
      came.reply = handler->Finish("m");
  } else {
    came.reply = handler->Finish("m");
  }
  return came;
}

}  // namespace
}  // namespace gloveport

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gloveport;
  if (size == 0) return 0;
  const unsigned kind = data[0];
  const std::string_view body = TextOf(data + 1, size - 1);
  const Came whole = Read(kind, body, body.size() + 1);
  const Came cut = Read(kind, body, 1);
  PROMISE(whole.error.has_value() == cut.error.has_value());
  PROMISE(!whole.error || whole.error->code == cut.error->code);
  PROMISE(whole.content == cut.content);
  PROMISE(whole.reply.has_value() == cut.reply.has_value());
  if (whole.reply) {
    PROMISE(whole.content == whole.reply->content);
    PROMISE(whole.reply->content == cut.reply->content);
    PROMISE(whole.reply->action == cut.reply->action);
  }
  return 0;
}
