// What an MCP server sends: messages, lists of tools, results, questions.
#include "gloveport/core/base/text.h"
#include "gloveport/core/mcp/elicitation.h"
#include "gloveport/core/mcp/json_rpc.h"
#include "gloveport/core/mcp/protocol.h"
#include "gloveport/core/mcp/tool_list.h"
#include "gloveport/core/mcp/tool_result.h"
#include "gloveport/core/mcp/tool_signature.h"
#include "gloveport/core/net/sse_parser.h"
#include "gloveport/tools/tool_names.h"

#include "fuzz_input.h"

namespace {

using namespace gloveport;

const McpLimits kLimits = {.max_message_bytes = 1u << 20, .max_items = 20'000};

void TryTools(const Json& result) {
  const McpToolPage page = ParseToolPage(result, kLimits);
  for (const McpToolInfo& tool : page.tools) {
    const McpSignature signature = MakeSignature(tool, "tool_of_server", kLimits);
    PROMISE(CheckToolSpec(signature.spec));
    // Everything that is shown is safe to show.
    PROMISE(EscapeForTerminal(signature.spec.Signature()) == signature.spec.Signature());
    PROMISE(EscapeForTerminal(signature.spec.description) == signature.spec.description);
    (void)ToolResultValue(result, tool, {}, kLimits);
  }
}

void TryMessage(const RpcMessage& message) {
  if (message.kind == RpcMessage::Kind::kResult) {
    TryTools(message.result);
    (void)ToolResultValue(message.result, {}, {}, kLimits);
    (void)ResourceValue(message.result);
    (void)ParseServerFacts(message.result, kLimits);
  }
  if (const auto form = ParseElicitation(message.params)) {
    Value::Map content = form->fields.as_map();
    (void)CheckElicited(*form, content);
  }
  (void)SupportedRevisions(message.error);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = TextOf(data, size);
  SseParser events([](const SseEvent&) -> Status { return {}; },
                   {.max_line_bytes = 4096, .max_event_bytes = 8192});
  (void)(events.Feed(text.substr(0, size / 2)) && events.Feed(text.substr(size / 2)));
  const auto messages = ParseRpc(text, kLimits);
  if (!messages) {
    PROMISE(!messages.error().message.empty());
    return 0;
  }
  for (const RpcMessage& message : *messages) TryMessage(message);
  return 0;
}
