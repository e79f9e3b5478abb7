#include "gloveport/core/model/openai_responses_stream.h"

#include "gloveport/core/model/server_error.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

tl::unexpected<Error> Wrong(std::string what) { return Fail(ErrorCode::kProtocol, std::move(what)); }

TokenUsage ReadUsage(const Json& usage) {
  TokenUsage read;
  read.reported = MemberOf(usage, "input_tokens").is_number_integer() ||
                  MemberOf(usage, "output_tokens").is_number_integer();
  read.input_tokens = IntegerOf(usage, "input_tokens");
  read.output_tokens = IntegerOf(usage, "output_tokens");
  read.cached_input_tokens = IntegerOf(MemberOf(usage, "input_tokens_details"), "cached_tokens");
  read.reasoning_tokens = IntegerOf(MemberOf(usage, "output_tokens_details"), "reasoning_tokens");
  return read;
}

}  // namespace

OpenAiResponsesStream::OpenAiResponsesStream(const ChatRequest& request, ActionForm form)
    : request_(request), form_(form) {
  Begin();
}

void OpenAiResponsesStream::Begin() {
  builder_.emplace(request_, form_);
  calls_.clear();
  reasoning_ = Json::array();
  refused_ = false;
}

const Json* OpenAiResponsesStream::ErrorIn(std::string_view name, const Json& data) const {
  if (TextOf(data, "type") == "response.failed") {
    const Json& response = MemberOf(data, "response");
    const Json* error = Member(response, "error");
    return error ? error : &response;
  }
  return StreamHandler::ErrorIn(name, data);
}

void OpenAiResponsesStream::TakeFrame(const Json& response) {
  if (auto model = TextOf(response, "model"); !model.empty()) builder_->set_model(std::move(model));
  if (const Json* usage = Member(response, "usage")) builder_->set_usage(ReadUsage(*usage));
  std::string reason = builder_->calls() > 0 ? "tool_calls" : "stop";
  if (refused_) reason = "refusal";
  if (TextOf(response, "status") == "incomplete") {
    reason = TextOf(MemberOf(response, "incomplete_details"), "reason");
    if (reason == "max_output_tokens") reason = "length";
    if (reason.empty()) reason = "incomplete";
  }
  builder_->set_finish_reason(std::move(reason));
}

Status OpenAiResponsesStream::BeginItem(const Json& event) {
  const Json& item = MemberOf(event, "item");
  if (TextOf(item, "type") != "function_call") return {};
  const std::size_t call = builder_->calls();
  calls_[IntegerOf(event, "output_index")] = call;
  if (builder_->AddCall(call, TextOf(item, "call_id"), TextOf(item, "name"), TextOf(item, "arguments")))
    return {};
  return Wrong("it has too many tool calls");
}

// Servers that send no delta of the arguments have them in the last event of the item.
void OpenAiResponsesStream::EndItem(const Json& item) {
  if (TextOf(item, "type") == "reasoning" && !TextOf(item, "encrypted_content").empty()) {
    Json kept = item;
    kept.erase("id");  // nothing of that name is kept on the server
    kept.erase("status");
    reasoning_.push_back(std::move(kept));
  }
}

Status OpenAiResponsesStream::TakeDelta(std::string_view type, const Json& event) {
  const std::string text = TextOf(event, "delta");
  if (type == "response.output_text.delta") {
    builder_->AddContent(text);
  } else if (type == "response.refusal.delta") {
    refused_ = true;
    builder_->AddContent(text);
  } else if (type == "response.reasoning_summary_text.delta" || type == "response.reasoning_text.delta") {
    builder_->AddReasoning(text);
  } else if (type == "response.reasoning_summary_part.added") {
    if (!builder_->reply().reasoning.empty()) builder_->AddReasoning("\n\n");
  } else if (type == "response.function_call_arguments.delta") {
    const auto call = calls_.find(IntegerOf(event, "output_index"));
    if (call == calls_.end()) return Wrong("it adds arguments to a tool call that was not begun");
    if (!builder_->AddCall(call->second, "", "", text)) return Wrong("it has too many tool calls");
  } else if (type == "response.function_call_arguments.done") {
    const auto call = calls_.find(IntegerOf(event, "output_index"));
    const bool missing = call != calls_.end() && builder_->arguments(call->second).empty();
    if (missing && !builder_->AddCall(call->second, "", "", TextOf(event, "arguments"))) {
      return Wrong("it has too many tool calls");
    }
  }
  return {};
}

Result<StreamStep> OpenAiResponsesStream::OnEvent(std::string_view name, const Json& data) {
  if (!data.is_object()) return Wrong("it is no object");
  std::string type = TextOf(data, "type");
  if (type.empty()) type = name;
  if (type == "response.output_item.added") {
    RETURN_IF_ERROR(BeginItem(data));
  } else if (type == "response.output_item.done") {
    EndItem(MemberOf(data, "item"));
  } else if (type == "response.completed" || type == "response.incomplete") {
    TakeFrame(MemberOf(data, "response"));
    return StreamStep::kDone;
  } else {
    RETURN_IF_ERROR(TakeDelta(type, data));
  }
  return builder_->stopped() ? StreamStep::kDone : StreamStep::kMore;
}

Status OpenAiResponsesStream::TakeWholeItem(const Json& item) {
  const std::string type = TextOf(item, "type");
  if (type == "message") {
    for (const Json& part : MemberOf(item, "content")) {
      const std::string refusal = TextOf(part, "refusal");
      refused_ = refused_ || !refusal.empty();
      builder_->AddContent(refusal.empty() ? TextOf(part, "text") : refusal);
    }
  } else if (type == "reasoning") {
    for (const char* list : {"summary", "content"}) {
      for (const Json& part : MemberOf(item, list)) {
        if (!builder_->reply().reasoning.empty()) builder_->AddReasoning("\n\n");
        builder_->AddReasoning(TextOf(part, "text"));
      }
    }
    EndItem(item);
  } else if (type == "function_call") {
    if (!builder_->AddCall(builder_->calls(), TextOf(item, "call_id"), TextOf(item, "name"),
                           TextOf(item, "arguments"))) {
      return Wrong("it has too many tool calls");
    }
  }
  return {};
}

Status OpenAiResponsesStream::ReadBody(const Json& body) {
  if (TextOf(body, "type") == "error" || Member(body, "error")) {
    return Wrong("it reports an error: " + ServerMessage(body));
  }
  const Json* output = Member(body, "output");
  if (!output || !output->is_array()) return Wrong("it has no list \"output\"");
  for (const Json& item : *output) RETURN_IF_ERROR(TakeWholeItem(item));
  TakeFrame(body);
  return {};
}

ChatReply OpenAiResponsesStream::Finish(const std::string& model) {
  if (!reasoning_.empty()) builder_->set_opaque(DumpJson(reasoning_));
  return builder_->Finish(model);
}

}  // namespace gloveport
