#include "gloveport/core/mcp/mcp_tool.h"

#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxTextBytes = 500;
constexpr std::size_t kMaxUriBytes = 4096;
constexpr std::size_t kMaxResources = 10'000;

class FunctionTool : public Tool {
 public:
  using Function = std::function<Result<Value>(const Arguments&, CallContext&)>;

  FunctionTool(ToolSpec spec, Function function) : spec_(std::move(spec)), function_(std::move(function)) {}
  const ToolSpec& spec() const override { return spec_; }
  Result<Value> Call(const Arguments& arguments, CallContext& context) override {
    return function_(arguments, context);
  }

 private:
  const ToolSpec spec_;
  const Function function_;
};

McpSignature SignatureOf(const McpToolInfo& info, std::string_view python_name,
                         const McpConnection& connection, const McpLimits& limits) {
  McpSignature signature = MakeSignature(info, python_name, limits);
  signature.spec.timeout = connection.call_time();
  return signature;
}

// Progress may be told a moment longer than the call lasts, and its context.
class ProgressLink {
 public:
  explicit ProgressLink(const CallContext& context) : context_(&context) {}
  void Tell(const McpProgress& progress) {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) context_->Progress(progress.progress, progress.total, progress.message);
  }
  void End() {
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
  }

 private:
  std::mutex mutex_;
  const CallContext* context_;
};

// The host says that the time is up, by the stop, and gives the cell the right exception for it; this is for
// hosts that do not.
Deadline AfterHost(Deadline deadline) {
  return deadline.never() ? deadline : Deadline::At(deadline.when() + std::chrono::seconds(1));
}

Value ResourceEntry(const Json& resource) {
  Value entry = Value::Object({{"uri", Value(ToValidUtf8(TextOf(resource, "uri").substr(0, kMaxUriBytes)))}});
  for (const char* key : {"name", "title", "description", "mimeType"}) {
    if (MemberOf(resource, key).is_string())
      entry.Set(key, Value(CleanLine(TextOf(resource, key), kMaxTextBytes)));
  }
  return entry;
}

}  // namespace

McpTool::McpTool(std::shared_ptr<McpConnection> connection, McpToolInfo info, std::string_view python_name,
                 SchemaValidator validate, const McpLimits& limits)
    : connection_(std::move(connection)),
      info_(std::move(info)),
      signature_(SignatureOf(info_, python_name, *connection_, limits)),
      validate_(std::move(validate)),
      limits_(limits) {}

Result<Value> McpTool::Call(const Arguments& arguments, CallContext& context) {
  auto json = ArgumentsJson(signature_, arguments);
  if (!json)
    return Fail(json.error().code, fmt::format("{}() {}", spec().name, json.error().message),
                json.error().hint);
  const auto link = std::make_shared<ProgressLink>(context);
  McpToolCall call{info_, std::move(*json), AfterHost(context.deadline), context.stop, {}, {}};
  if (context.on_ask) {
    call.on_ask = [&context](std::string reason, Value details) {
      return context.Ask(std::move(reason), std::move(details));
    };
  }
  if (context.on_progress) call.on_progress = [link](const McpProgress& progress) { link->Tell(progress); };
  const auto result = connection_->CallTool(call);
  link->End();
  if (!result) return tl::unexpected<Error>(result.error());
  auto value = ToolResultValue(*result, info_, validate_, limits_);
  if (!value && value.error().code == ErrorCode::kProtocol)
    value.error().message = fmt::format("MCP server {}: {}", connection_->name(), value.error().message);
  if (value && info_.output_schema) {
    for (const auto& [mime, data] : ImagesOf(*result)) context.Display(mime, data);
  }
  return value;
}

std::shared_ptr<Tool> MakeListResources(std::shared_ptr<McpConnection> connection,
                                        std::string_view python_name) {
  ToolSpec spec;
  spec.name = python_name;
  spec.description = fmt::format("The resources that the MCP server {} offers.", connection->name());
  spec.returns = "list[dict]";
  spec.returns_description = "each a dict with keys uri, name and, where known, title, description, mimeType";
  auto function = [connection = std::move(connection)](const Arguments&,
                                                       CallContext& context) -> Result<Value> {
    ASSIGN_OR_RETURN(const auto resources, connection->ListResources(context.deadline, context.stop));
    Value::List list;
    for (const Json& resource : resources) {
      if (list.size() < kMaxResources) list.push_back(ResourceEntry(resource));
    }
    return Value(std::move(list));
  };
  return std::make_shared<FunctionTool>(std::move(spec), std::move(function));
}

std::shared_ptr<Tool> MakeReadResource(std::shared_ptr<McpConnection> connection,
                                       std::string_view python_name) {
  ToolSpec spec;
  spec.name = python_name;
  spec.description = fmt::format("The content of a resource of the MCP server {}.", connection->name());
  Parameter uri;
  uri.name = "uri";
  uri.description = "as the list of resources or a link has it";
  uri.annotation = "str";
  uri.schema = Value::Object({{"type", "string"}});
  spec.parameters.push_back(std::move(uri));
  spec.returns = "object";
  spec.returns_description =
      "str for text, bytes for anything else; a list of dicts where there are several parts";
  auto function = [connection = std::move(connection)](const Arguments& arguments,
                                                       CallContext& context) -> Result<Value> {
    const Value* given = arguments.Find("uri");
    if (given == nullptr || !given->is_text() || given->as_text().size() > kMaxUriBytes)
      return Fail(ErrorCode::kInvalidArgument, "uri must be a text of at most 4096 bytes");
    ASSIGN_OR_RETURN(const Json result,
                     connection->ReadResource(given->as_text(), context.deadline, context.stop));
    return ResourceValue(result);
  };
  return std::make_shared<FunctionTool>(std::move(spec), std::move(function));
}

}  // namespace gloveport
