#include "gloveport/core/model/reply_builder.h"

#include <utility>

namespace gloveport {

// A stop sequence within JSON would leave half of it.
ReplyBuilder::ReplyBuilder(const ChatRequest& request, ActionForm form)
    : request_(request), cutter_(form == ActionForm::kJson ? std::vector<std::string>() : request.stop) {
  reply_.form = form;
}

void ReplyBuilder::HandOn(ChatDelta::Kind kind, std::string_view text) {
  if (text.empty() || !request_.on_delta) return;
  handed_on_ = true;
  request_.on_delta({kind, text});
}

void ReplyBuilder::HandOnParts(std::string_view json, CodeStream& parts) {
  if (!request_.on_delta) return;
  const auto pieces = parts.Take(json);
  HandOn(ChatDelta::Kind::kThought, pieces.thought);
  HandOn(ChatDelta::Kind::kCode, pieces.code);
}

void ReplyBuilder::TakeContent(std::string_view text) {
  reply_.content += text;
  HandOn(ChatDelta::Kind::kContent, text);
  if (reply_.form == ActionForm::kJson) HandOnParts(text, content_parts_);
}

void ReplyBuilder::AddContent(std::string_view piece) {
  bytes_ += piece.size();
  TakeContent(cutter_.Take(piece));
}

void ReplyBuilder::AddReasoning(std::string_view piece) {
  bytes_ += piece.size();
  reply_.reasoning += piece;
  HandOn(ChatDelta::Kind::kReasoning, piece);
}

bool ReplyBuilder::AddCall(std::size_t call, std::string_view id, std::string_view name,
                           std::string_view arguments) {
  if (call > calls_.size() || call >= kMaxCalls) return false;
  if (call == calls_.size()) {
    calls_.emplace_back();
    call_parts_.emplace_back();
  }
  Call& entry = calls_[call];
  if (!id.empty()) entry.id = id;
  if (!name.empty()) entry.name = name;
  bytes_ += id.size() + name.size() + arguments.size();
  entry.arguments += arguments;
  HandOn(ChatDelta::Kind::kArguments, arguments);
  HandOnParts(arguments, call_parts_[call]);
  return true;
}

// Several calls in one reply are one cell, in their order: that is what they would do one after the other.
// The first that cannot be used says what is wrong.
CodeAction ReplyBuilder::ReadCalls() const {
  CodeAction all;
  for (const Call& call : calls_) {
    CodeAction action = ReadToolCall(call.name, call.arguments);
    if (!action.problem.empty()) {
      action.call_id = calls_.front().id;
      return action;
    }
    if (!all.code.empty() && !all.code.ends_with('\n')) all.code += '\n';
    all.code += action.code;
    if (!all.thought.empty() && !action.thought.empty()) all.thought += '\n';
    all.thought += action.thought;
  }
  all.call_id = calls_.front().id;
  return all;
}

// A model that was offered no tool may call one of its own invention: that is text like any other, and is
// answered as such.
void ReplyBuilder::TakeCalls() {
  CodeAction action = ReadCalls();
  if (reply_.form == ActionForm::kTool || action.problem.empty()) {
    reply_.action = std::move(action);
    return;
  }
  for (const Call& call : calls_) {
    if (!reply_.content.empty()) TakeContent("\n");
    TakeContent(DumpJson(Json{{"name", call.name}, {"arguments", call.arguments}}));
  }
}

ChatReply ReplyBuilder::Finish(const std::string& model) {
  TakeContent(cutter_.End());
  if (cutter_.stopped()) reply_.finish_reason = "stop";
  if (!calls_.empty()) {
    TakeCalls();
  } else if (reply_.form == ActionForm::kJson) {
    reply_.action = ReadStructured(reply_.content);
  }
  if (reply_.model.empty()) reply_.model = model;
  return std::exchange(reply_, {});
}

}  // namespace gloveport
