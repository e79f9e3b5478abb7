#include "gloveport/core/model/openai_chat_stream.h"

#include <algorithm>

#include "gloveport/core/model/server_error.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

tl::unexpected<Error> Wrong(std::string what) { return Fail(ErrorCode::kProtocol, std::move(what)); }

// Text, or a list of parts of which those with text count. False for anything else.
bool ReadContent(const Json& content, std::string& text) {
  if (content.is_string()) {
    text = content.get<std::string>();
    return true;
  }
  if (!content.is_array()) return false;
  for (const Json& part : content) text += TextOf(part, "text");
  return true;
}

TokenUsage ReadUsage(const Json& usage) {
  TokenUsage read;
  read.reported = MemberOf(usage, "prompt_tokens").is_number_integer() ||
                  MemberOf(usage, "completion_tokens").is_number_integer();
  read.input_tokens = IntegerOf(usage, "prompt_tokens");
  read.output_tokens = IntegerOf(usage, "completion_tokens");
  read.cached_input_tokens = IntegerOf(MemberOf(usage, "prompt_tokens_details"), "cached_tokens");
  if (read.cached_input_tokens == 0) read.cached_input_tokens = IntegerOf(usage, "prompt_cache_hit_tokens");
  read.reasoning_tokens = IntegerOf(MemberOf(usage, "completion_tokens_details"), "reasoning_tokens");
  return read;
}

// A text, or, from some servers, the object itself.
std::string ReadArguments(const Json& function) {
  const Json* arguments = Member(function, "arguments");
  if (arguments && arguments->is_object()) return DumpJson(*arguments);
  return TextOf(arguments);
}

}  // namespace

OpenAiChatStream::OpenAiChatStream(const ChatRequest& request, ActionForm form, Usage usage)
    : request_(request), form_(form), usage_(usage) {
  Begin();
}

void OpenAiChatStream::Begin() {
  builder_.emplace(request_, form_);
  call_indexes_.clear();
  any_choice_ = finished_ = refused_ = false;
}

void OpenAiChatStream::TakeFrame(const Json& data) {
  if (auto model = TextOf(data, "model"); !model.empty()) builder_->set_model(std::move(model));
  if (const Json* usage = Member(data, "usage")) builder_->set_usage(ReadUsage(*usage));
}

Result<StreamStep> OpenAiChatStream::OnEvent(std::string_view, const Json& data) {
  if (!data.is_object()) return Wrong("it is no object");
  TakeFrame(data);
  const Json* choices = Member(data, "choices");
  if (choices && !choices->is_array()) return Wrong("\"choices\" is no list");
  if (choices && !choices->empty()) {
    const Json& choice = choices->front();
    if (!choice.is_object()) return Wrong("its first choice is no object");
    any_choice_ = true;
    if (const Json* delta = Member(choice, "delta")) RETURN_IF_ERROR(TakeMessage(*delta));
    if (builder_->stopped()) return StreamStep::kDone;
    if (auto reason = TextOf(choice, "finish_reason"); !reason.empty()) {
      finished_ = true;
      builder_->set_finish_reason(refused_ ? "refusal" : std::move(reason));
    }
  }
  const bool complete = finished_ && (usage_ == Usage::kNotExpected || builder_->reply().usage.reported);
  return complete ? StreamStep::kDone : StreamStep::kMore;
}

Status OpenAiChatStream::TakeMessage(const Json& message) {
  std::string reasoning = TextOf(message, "reasoning_content");
  if (reasoning.empty()) reasoning = TextOf(message, "reasoning");
  builder_->AddReasoning(reasoning);
  if (const Json* content = Member(message, "content")) {
    std::string text;
    if (!ReadContent(*content, text)) return Wrong("its content is neither text nor a list");
    builder_->AddContent(text);
  }
  const std::string refusal = TextOf(message, "refusal");
  if (!refusal.empty() && (refused_ || builder_->reply().content.empty())) {
    refused_ = true;
    builder_->AddContent(refusal);
  }
  if (const Json* calls = Member(message, "tool_calls")) return TakeCalls(*calls);
  return {};
}

Status OpenAiChatStream::TakeCalls(const Json& calls) {
  if (!calls.is_array()) return Wrong("its \"tool_calls\" are no list");
  for (const Json& call : calls) {
    const Json* number = Member(call, "index");
    const std::string id = TextOf(call, "id");
    // Servers that do not number calls send each as a whole, with an id of its own.
    const bool continues = number == nullptr && id.empty() && !call_indexes_.empty();
    const std::int64_t index = number ? IntegerOf(call, "index")
                                      : static_cast<std::int64_t>(call_indexes_.size()) - (continues ? 1 : 0);
    const auto found = std::find(call_indexes_.begin(), call_indexes_.end(), index);
    const auto place = static_cast<std::size_t>(found - call_indexes_.begin());
    if (found == call_indexes_.end()) call_indexes_.push_back(index);
    const Json& function = MemberOf(call, "function");
    if (!builder_->AddCall(place, id, TextOf(function, "name"), ReadArguments(function))) {
      return Wrong("it has too many tool calls");
    }
  }
  return {};
}

// Some models want their thoughts back along with the call that came of them.
ChatReply OpenAiChatStream::Finish(const std::string& model) {
  if (builder_->calls() > 0) builder_->set_opaque(builder_->reply().reasoning);
  return builder_->Finish(model);
}

Status OpenAiChatStream::ReadBody(const Json& body) {
  if (Member(body, "error")) return Wrong("it reports an error: " + ServerMessage(body));
  const Json* choices = Member(body, "choices");
  if (!choices || !choices->is_array()) return Wrong("it has no list \"choices\"");
  if (choices->empty()) return Wrong("its list \"choices\" is empty");
  const Json& choice = choices->front();
  const Json* message = Member(choice, "message");
  if (!message || !message->is_object()) return Wrong("its first choice has no message");
  TakeFrame(body);
  RETURN_IF_ERROR(TakeMessage(*message));
  builder_->set_finish_reason(refused_ ? "refusal" : TextOf(choice, "finish_reason"));
  return {};
}

}  // namespace gloveport
