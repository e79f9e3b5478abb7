// A recording of a conversation with a model: a text file of JSON lines, one for each exchange, in the order
// in which they ended. Pure functions.
//
//   {"version": 1, "model": "openai:gpt-5", "same": 0,
//    "request": {"messages": [{"role": "system", "content": "..."}, {"role": "user", "content": "..."}],
//                "stop": [], "temperature": 0.0, "max_tokens": null, "form": "text"},
//    "reply": {"content": "...", "finish_reason": "stop", "model": "gpt-5-2025-08-07",
//              "usage": {"input": 812, "output": 95, "cached_input": 0, "cache_write": 0, "reasoning": 64}}}
//
// `same` is how many messages at the beginning are those of the line before, and left out here: so a run's
// recording grows with its conversation, not with its square. In place of "reply" there may be "error" with
// "code", "message", "hint". What is empty is left out of messages and replies: "reasoning", "opaque",
// "action" ({"form", "call_id", "thought", "code", "problem"}); "usage" where the server gave none. Keys and
// header fields are in neither requests nor replies.
#ifndef GLOVEPORT_CORE_MODEL_RECORDING_H_
#define GLOVEPORT_CORE_MODEL_RECORDING_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/model/model.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

struct Exchange {
  std::string model;
  ChatRequest request;  // without deadline, cancel and on_delta
  Result<ChatReply> reply;
};

// `previous` are the messages of the line before.
Json ExchangeJson(const Exchange& exchange, const std::vector<ChatMessage>& previous);

// kInvalidArgument says what is wrong with the line.
Result<Exchange> ParseExchange(std::string_view line, const std::vector<ChatMessage>& previous);

// Where two requests part first, in words: "message 3 (user), line 2: recorded "...", now "..."". Nothing
// where they ask the same.
// Times that were measured, such as "(0.07 s)" in what a model is told of a cell, do not count.
std::optional<std::string> FirstDifference(const ChatRequest& recorded, const ChatRequest& now);

// Hands the texts of `reply` on in pieces, as a server would.
void PlayDeltas(const ChatRequest& request, const ChatReply& reply);

// `text` in pieces of a few words, whole characters each.
std::vector<std::string_view> StreamPieces(std::string_view text);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_RECORDING_H_
