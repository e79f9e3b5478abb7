// The streams of the three protocols, as real servers send them, for tests that hold for all.
#ifndef GLOVEPORT_TESTS_CORE_MODEL_STREAM_PROTOCOLS_H_
#define GLOVEPORT_TESTS_CORE_MODEL_STREAM_PROTOCOLS_H_

#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "gloveport/core/model/anthropic.h"
#include "gloveport/core/model/openai_chat.h"
#include "gloveport/core/model/openai_responses.h"
#include "gloveport/tests/support/fault_server/fault_server.h"

namespace gloveport {

inline constexpr const char* kTestKey = "sk-test-0123456789abcdef";

struct StreamProtocol {
  const char* name;
  std::unique_ptr<Model> (*make)(EndpointOptions endpoint, ModelOptions settings);
  std::string begin;                            // events before the first text
  std::string (*text)(std::string_view piece);  // must need no escaping in JSON
  std::string end;   // what follows the last text: finish reason "stop", 12 tokens in, 3 out
  std::string body;  // the same in place of a stream, with the text "hello"
};

inline std::string Event(std::string_view name, std::string_view data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}
inline std::string Data(std::string_view data) { return fmt::format("data: {}\n\n", data); }

template <typename Kind>
std::unique_ptr<Model> MakeOpenAiKind(EndpointOptions endpoint, ModelOptions settings) {
  return std::make_unique<Kind>(OpenAiChatOptions{"m", kTestKey, std::move(endpoint), std::move(settings)});
}

inline StreamProtocol ChatProtocol() {
  return {
      "openai",
      MakeOpenAiKind<OpenAiChat>,
      Data(
          R"({"id":"c","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,)"
          R"("delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null})"),
      [](std::string_view piece) {
        return Data(fmt::format(
            R"({{"id":"c","object":"chat.completion.chunk","choices":[{{"index":0,"delta":{{"content":"{}"}},"finish_reason":null}}]}})",
            piece));
      },
      Data(R"({"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})") +
          Data(
              R"({"id":"c","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}})") +
          Data("[DONE]"),
      R"({"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":12,"completion_tokens":3}})"};
}

inline StreamProtocol ResponsesProtocol() {
  return {
      "openai_responses",
      MakeOpenAiKind<OpenAiResponses>,
      Event(
          "response.created",
          R"({"type":"response.created","sequence_number":0,"response":{"id":"r","status":"in_progress","error":null,"model":"m-1"}})") +
          Event(
              "response.output_item.added",
              R"({"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"message","content":[]}})") +
          Event(
              "response.content_part.added",
              R"({"type":"response.content_part.added","output_index":0,"part":{"type":"output_text","text":""}})"),
      [](std::string_view piece) {
        return Event(
            "response.output_text.delta",
            fmt::format(R"({{"type":"response.output_text.delta","output_index":0,"delta":"{}"}})", piece));
      },
      Event("response.completed",
            R"({"type":"response.completed","response":{"status":"completed","error":null,"model":"m-1",)"
            R"("usage":{"input_tokens":12,"output_tokens":3}}})"),
      R"({"status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"hello"}]}],)"
      R"("usage":{"input_tokens":12,"output_tokens":3}})"};
}

inline StreamProtocol AnthropicProtocol() {
  return {
      "anthropic",
      [](EndpointOptions endpoint, ModelOptions settings) -> std::unique_ptr<Model> {
        return std::make_unique<Anthropic>(
            AnthropicOptions{"m", kTestKey, 100, std::move(endpoint), std::move(settings)});
      },
      Event(
          "message_start",
          R"({"type":"message_start","message":{"type":"message","role":"assistant","model":"m-1","content":[],)"
          R"("stop_reason":null,"usage":{"input_tokens":12,"output_tokens":1}}})") +
          Event("content_block_start",
                R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})") +
          Event("ping", R"({"type":"ping"})"),
      [](std::string_view piece) {
        return Event(
            "content_block_delta",
            fmt::format(
                R"({{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{}"}}}})",
                piece));
      },
      Event("content_block_stop", R"({"type":"content_block_stop","index":0})") +
          Event(
              "message_delta",
              R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}})") +
          Event("message_stop", R"({"type":"message_stop"})"),
      R"({"type":"message","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn",)"
      R"("usage":{"input_tokens":12,"output_tokens":3}})"};
}

// A stream that ends with the connection.
inline FaultServer::Scene StreamOf(std::string events, std::string_view type = "text/event-stream") {
  return AnswerBytes(fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\n\r\n{}", type, events));
}

// One that goes on: `then` has the connection.
inline FaultServer::Scene StreamThen(std::string events, std::function<void(FaultPeer&)> then) {
  return [events = std::move(events), then = std::move(then)](FaultPeer& peer, const std::string&) {
    peer.Send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + events);
    then(peer);
  };
}

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_MODEL_STREAM_PROTOCOLS_H_
