#include "gloveport/core/model/anthropic_stream.h"

#include "gloveport/core/model/server_error.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxBlocks = 10'000;

tl::unexpected<Error> Wrong(std::string what) { return Fail(ErrorCode::kProtocol, std::move(what)); }

std::string FinishReason(const std::string& stop_reason) {
  if (stop_reason == "end_turn" || stop_reason == "stop_sequence") return "stop";
  if (stop_reason == "max_tokens" || stop_reason == "model_context_window_exceeded") return "length";
  return stop_reason == "tool_use" ? "tool_calls" : stop_reason;
}

}  // namespace

AnthropicStream::AnthropicStream(const ChatRequest& request, ActionForm form)
    : request_(request), form_(form) {
  Begin();
}

void AnthropicStream::Begin() {
  builder_.emplace(request_, form_);
  blocks_.clear();
  thinking_ = Json::array();
  counts_ = {};
  finished_ = false;
}

// Counts of a later event replace those of an earlier one; what it does not name stays.
void AnthropicStream::TakeUsage(const Json& usage) {
  const auto take = [&](const char* key, std::int64_t& count) {
    if (!MemberOf(usage, key).is_number_integer()) return;
    count = IntegerOf(usage, key);
    counts_.reported = true;
  };
  // input_tokens are kept here as the API counts them: without what a cache had to do with.
  take("input_tokens", counts_.input_tokens);
  take("cache_creation_input_tokens", counts_.cache_write_tokens);
  take("cache_read_input_tokens", counts_.cached_input_tokens);
  take("output_tokens", counts_.output_tokens);
  TokenUsage whole = counts_;
  whole.input_tokens += counts_.cache_write_tokens + counts_.cached_input_tokens;
  builder_->set_usage(whole);
}

void AnthropicStream::TakeStopReason(const Json& data) {
  const std::string reason = TextOf(data, "stop_reason");
  if (reason.empty()) return;
  finished_ = true;
  builder_->set_finish_reason(FinishReason(reason));
}

Status AnthropicStream::BeginBlock(const Json& block) {
  if (blocks_.size() >= kMaxBlocks) return Wrong("it has too many blocks of content");
  Block begun{.type = TextOf(block, "type")};
  if (begun.type == "text") {
    builder_->AddContent(TextOf(block, "text"));
  } else if (begun.type == "thinking" || begun.type == "redacted_thinking") {
    begun.thinking = thinking_.size();
    thinking_.push_back(block);
    builder_->AddReasoning(TextOf(block, "thinking"));
  } else if (begun.type == "tool_use") {
    begun.call = builder_->calls();
    const Json* input = Member(block, "input");
    const std::string arguments = input && input->is_object() && !input->empty() ? DumpJson(*input) : "";
    if (!builder_->AddCall(begun.call, TextOf(block, "id"), TextOf(block, "name"), arguments)) {
      return Wrong("it has too many tool calls");
    }
  }
  blocks_.push_back(std::move(begun));
  return {};
}

Status AnthropicStream::AddToBlock(const Json& event) {
  const std::uint64_t index = CountOf(event, "index");
  const Json& delta = MemberOf(event, "delta");
  if (index >= blocks_.size()) return Wrong("it adds to a block of content that was not begun");
  const Block& block = blocks_[index];
  const std::string type = TextOf(delta, "type");
  if (type == "text_delta") {
    builder_->AddContent(TextOf(delta, "text"));
  } else if (type == "input_json_delta") {
    if (block.type != "tool_use") return Wrong("it adds arguments to what is no tool call");
    if (!builder_->AddCall(block.call, "", "", TextOf(delta, "partial_json")))
      return Wrong("it has too many tool calls");
  } else if (type == "thinking_delta" || type == "signature_delta") {
    if (block.type != "thinking") return Wrong("it adds thoughts to what is none");
    const char* key = type == "thinking_delta" ? "thinking" : "signature";
    const std::string text = TextOf(delta, key);
    Json& kept = thinking_[block.thinking];
    kept[key] = TextOf(kept, key) + text;
    if (type == "thinking_delta") builder_->AddReasoning(text);
  }
  return {};
}

Result<StreamStep> AnthropicStream::OnEvent(std::string_view name, const Json& data) {
  if (!data.is_object()) return Wrong("it is no object");
  std::string type = TextOf(data, "type");
  if (type.empty()) type = name;
  if (type == "message_start") {
    const Json& message = MemberOf(data, "message");
    builder_->set_model(TextOf(message, "model"));
    TakeUsage(MemberOf(message, "usage"));
  } else if (type == "content_block_start") {
    if (CountOf(data, "index") != blocks_.size()) return Wrong("its blocks of content are out of order");
    RETURN_IF_ERROR(BeginBlock(MemberOf(data, "content_block")));
  } else if (type == "content_block_delta") {
    RETURN_IF_ERROR(AddToBlock(data));
  } else if (type == "message_delta") {
    TakeStopReason(MemberOf(data, "delta"));
    TakeUsage(MemberOf(data, "usage"));
  }
  return type == "message_stop" || builder_->stopped() ? StreamStep::kDone : StreamStep::kMore;
}

Status AnthropicStream::ReadBody(const Json& body) {
  if (TextOf(body, "type") == "error") return Wrong("it reports an error: " + ServerMessage(body));
  const Json* content = Member(body, "content");
  if (!content || !content->is_array()) return Wrong("it has no list \"content\"");
  for (const Json& block : *content) RETURN_IF_ERROR(BeginBlock(block));
  TakeStopReason(body);
  TakeUsage(MemberOf(body, "usage"));
  builder_->set_model(TextOf(body, "model"));
  return {};
}

ChatReply AnthropicStream::Finish(const std::string& model) {
  if (!thinking_.empty()) builder_->set_opaque(DumpJson(thinking_));
  return builder_->Finish(model);
}

}  // namespace gloveport
