#include "gloveport/core/serve/mcp/tool_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>

#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::string_view kSchemaDialect = "https://json-schema.org/draft/2020-12/schema";

double Seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

std::string InWords(std::chrono::milliseconds time) {
  return time < std::chrono::minutes(2) ? fmt::format("{:.3g} seconds", Seconds(time))
                                        : fmt::format("{:.3g} minutes", Seconds(time) / 60);
}

Json Text(std::string_view description) { return {{"type", "string"}, {"description", description}}; }
Json TextOrNull(std::string_view description) {
  return {{"type", {"string", "null"}}, {"description", description}};
}

Json ObjectSchema(Json properties, Json required) {
  return {{"$schema", kSchemaDialect},
          {"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Json SessionArgument(std::string_view description) {
  Json schema = Text(description);
  schema["maxLength"] = 64;
  return schema;
}

// Behind "files only in the working folder".
std::string FurtherFolders(const FileRules& files) {
  if (files.read.empty()) return "";
  return fmt::format(" and, to read only, in {}", fmt::join(files.read, ", "));
}

// clang-format off
constexpr std::string_view kExecuteDescription =
    "Run Python code in a confined interpreter on the user's machine and return what it printed, the value of its last "
    "expression, images that it showed, or its error.\n\n"
    "State: without \"session\" the code runs in a fresh session. The result has the session's handle; pass it as \"session\" "
    "to go on with the variables, imports and files of earlier calls, as in a notebook. Calls in one session run one after "
    "the other, those in different ones beside each other. At most {} sessions stay open: for another one, the one that was "
    "not used for longest ends. One that is not used for {} ends by itself.\n\n"
    "Tools of the host are plain Python functions inside the code: call list_tools first to see which there are and how they "
    "are called. One call of execute_python may call many of them, in loops and with their results as variables; they raise "
    "ToolError where they fail.\n\n"
    "The policy \"{}\" of the user decides what the code may do: no network, no other programs, files only in the working "
    "folder{}, at most {} of time{}. What it refuses is said with the line and what to do instead; a call may have to wait "
    "until the user approves it.";
// clang-format on

std::string ExecuteDescription(const McpServerOptions& options) {
  const Policy& policy = options.policy;
  const std::uint64_t memory = policy.limits.memory_mib;
  return fmt::format(kExecuteDescription, options.limits.max_sessions_per_client,
                     InWords(options.limits.idle_timeout), policy.name, FurtherFolders(policy.files),
                     InWords(policy.limits.wall),
                     memory > 0 ? fmt::format(" and {} MiB of memory", memory) : "");
}

Json ErrorSchema() {
  return {
      {"description", "Why it did not end well; null where it did."},
      {"anyOf",
       {Json{{"type", "null"}},
        Json{
            {"type", "object"},
            {"properties",
             {{"type",
               Text("Class of the exception, or SessionError, LimitError, ArgumentError where nothing ran.")},
              {"message", Text("What went wrong.")},
              {"line", {{"type", {"integer", "null"}}, {"description", "1-based line in the code."}}},
              {"traceback", Text("Frames of the code itself; empty where there are none.")}}},
            {"required", {"type", "message", "line", "traceback"}},
            {"additionalProperties", false}}}}};
}

Json ToolCallSchema() {
  return {{"type", "array"},
          {"description", "Calls of host tools that the code made, in the order in which they ended."},
          {"items",
           {{"type", "object"},
            {"properties",
             {{"name", Text("Name of the tool.")},
              {"ok", {{"type", "boolean"}}},
              {"error", TextOrNull("What the code was told where it failed.")},
              {"duration_s", {{"type", "number"}, {"minimum", 0}}}}},
            {"required", {"name", "ok", "error", "duration_s"}},
            {"additionalProperties", false}}}};
}

Json FindingsSchema() {
  return {{"type", "array"},
          {"description", "Where the policy refused the code before it ran: what, and what to do instead."},
          {"items",
           {{"type", "object"},
            {"properties",
             {{"rule", Text("Name of the rule.")},
              {"line", {{"type", "integer"}}},
              {"column", {{"type", "integer"}}},
              {"message", Text("What is refused.")},
              {"hint", Text("What to do instead; may be empty.")}}},
            {"required", {"rule", "line", "column", "message", "hint"}},
            {"additionalProperties", false}}}};
}

Json ExecuteOutput() {
  Json properties = {
      {"status",
       {{"type", "string"},
        {"enum",
         {"ok", "error", "denied", "timeout", "memory", "output_limit", "violation", "crashed", "killed",
          "protocol_error", "not_run"}},
        {"description",
         "How the code ended: ok; error: an exception; denied: the policy or the user refused it before it "
         "ran; "
         "not_run: nothing was run, see error; the others: it was stopped."}}},
      {"session", TextOrNull("Handle of the session, to go on in it; null where there is none.")},
      {"state",
       {{"type", "string"},
        {"enum", {"kept", "restored", "lost"}},
        {"description",
         "Variables after this call: kept; restored: as before it; lost: the session begins anew, files are "
         "kept."}}},
      {"value",
       {{"description",
         "Value of the last expression as JSON; what JSON lacks is an object with one key such as "
         "{\"$bytes\": ...}. "
         "Null without one, or where it is too large: see repr."}}},
      {"repr", TextOrNull("repr() of that value, cut where it is long; null without one.")},
      {"type", TextOrNull("Name of its class; null without one.")},
      {"final_answer", {{"description", "What the code passed to final_answer(), as JSON; null without."}}},
      {"stdout", Text("What the code printed, cut in the middle where it is long.")},
      {"stderr", Text("The same of standard error.")},
      {"error", ErrorSchema()},
      {"findings", FindingsSchema()},
      {"tool_calls", ToolCallSchema()},
      {"images", {{"type", "integer"}, {"minimum", 0}, {"description", "Images in content."}}},
      {"duration_s", {{"type", "number"}, {"minimum", 0}, {"description", "Wall time of the code."}}}};
  Json required = Json::array();
  for (const auto& [name, schema] : properties.items()) required.push_back(name);
  return ObjectSchema(std::move(properties), std::move(required));
}

Json ExecuteTool(const McpServerOptions& options) {
  Json properties = {
      {"code",
       Text("Python source, as in a notebook cell: the value of a last expression is returned, top-level "
            "await works, print what else you need to see.")},
      {"session",
       SessionArgument("Handle from an earlier result, to go on in that session. Leave it out to start a "
                       "fresh one.")},
      {"timeout_s",
       {{"type", "number"},
        {"exclusiveMinimum", 0},
        {"description",
         fmt::format("Stop the code after so many seconds; never more than the {} of the policy.",
                     InWords(options.policy.limits.wall))}}}};
  return {{"name", kExecutePython},
          {"title", "Run Python"},
          {"description", ExecuteDescription(options)},
          {"inputSchema", ObjectSchema(std::move(properties), {"code"})},
          {"outputSchema", ExecuteOutput()},
          {"annotations",
           {{"readOnlyHint", false},
            {"destructiveHint", true},
            {"idempotentHint", false},
            {"openWorldHint", true}}}};
}

Json ResetTool() {
  Json input = {
      {"session", SessionArgument("Handle of the session.")},
      {"close",
       {{"type", "boolean"},
        {"default", false},
        {"description", "true: end the session, its handle is gone. false: empty it, the handle stays."}}}};
  Json output = {
      {"session", TextOrNull("The handle; null where the session was ended.")},
      {"open_sessions", {{"type", "integer"}, {"minimum", 0}, {"description", "That you have left."}}}};
  return {{"name", kResetSession},
          {"title", "Reset a Python session"},
          {"description",
           "Forget all variables, imports and files of a session of execute_python and stop what runs in it; "
           "or end "
           "the session with \"close\": true, which makes room for another."},
          {"inputSchema", ObjectSchema(std::move(input), {"session"})},
          {"outputSchema", ObjectSchema(std::move(output), {"session", "open_sessions"})},
          {"annotations",
           {{"readOnlyHint", false},
            {"destructiveHint", true},
            {"idempotentHint", true},
            {"openWorldHint", false}}}};
}

Json ListTool() {
  Json item = {{"type", "object"},
               {"properties",
                {{"name", Text("Name of the function.")},
                 {"signature", Text("As Python writes it.")},
                 {"description", Text("What it does.")}}},
               {"required", {"name", "signature", "description"}},
               {"additionalProperties", false}};
  Json output = {{"stub", Text("All of them as a Python stub, with types and docstrings.")},
                 {"tools", {{"type", "array"}, {"items", std::move(item)}}}};
  return {{"name", kListTools},
          {"title", "List functions for Python code"},
          {"description",
           "List the host's tools that exist as Python functions inside the code of execute_python, as a "
           "typed Python "
           "stub. They cannot be called from outside of it."},
          {"inputSchema", ObjectSchema(Json::object(), Json::array())},
          {"outputSchema", ObjectSchema(std::move(output), {"stub", "tools"})},
          {"annotations",
           {{"readOnlyHint", true},
            {"destructiveHint", false},
            {"idempotentHint", true},
            {"openWorldHint", false}}}};
}

// Misspelt arguments must not be silently the default.
Status CheckKeys(const Json& arguments, std::initializer_list<std::string_view> known) {
  if (arguments.is_null()) return {};
  if (!arguments.is_object()) return Fail(ErrorCode::kInvalidArgument, "\"arguments\" must be an object");
  for (const auto& [key, value] : arguments.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      return Fail(ErrorCode::kInvalidArgument, fmt::format("there is no argument \"{}\"", key.substr(0, 64)));
  }
  return {};
}

Result<std::string> NeedText(const Json& arguments, std::string_view key) {
  const Json& value = MemberOf(arguments, key);
  if (value.is_string()) return value.get<std::string>();
  return Fail(ErrorCode::kInvalidArgument, value.is_null()
                                               ? fmt::format("the argument \"{}\" is missing", key)
                                               : fmt::format("the argument \"{}\" must be text", key));
}

}  // namespace

Json ToolDefinitions(const McpServerOptions& options) {
  return Json::array({ExecuteTool(options), ResetTool(), ListTool()});
}

std::string ServerInstructions(const McpServerOptions&) {
  return "Python in a confined process of the user's machine. Call list_tools once to see the host's "
         "functions that "
         "code may call, then write code for execute_python that calls them: one call with a loop is better "
         "than many "
         "calls. Keep the \"session\" of the result and pass it on to keep variables.";
}

Result<ExecuteArguments> ReadExecuteArguments(const Json& arguments) {
  RETURN_IF_ERROR(CheckKeys(arguments, {"code", "session", "timeout_s"}));
  ExecuteArguments read;
  ASSIGN_OR_RETURN(read.code, NeedText(arguments, "code"));
  if (Member(arguments, "session") != nullptr) {
    ASSIGN_OR_RETURN(read.session, NeedText(arguments, "session"));
  }
  if (const Json* timeout = Member(arguments, "timeout_s")) {
    if (!timeout->is_number() || !(timeout->get<double>() > 0))
      return Fail(ErrorCode::kInvalidArgument, "the argument \"timeout_s\" must be a number above 0");
    read.timeout_s = timeout->get<double>();
  }
  return read;
}

Result<ResetArguments> ReadResetArguments(const Json& arguments) {
  RETURN_IF_ERROR(CheckKeys(arguments, {"session", "close"}));
  ResetArguments read;
  ASSIGN_OR_RETURN(read.session, NeedText(arguments, "session"));
  const Json& close = MemberOf(arguments, "close");
  if (!close.is_null() && !close.is_boolean())
    return Fail(ErrorCode::kInvalidArgument, "the argument \"close\" must be true or false");
  if (close == true) read.what = ResetArguments::What::kClose;
  return read;
}

Status CheckNoArguments(const Json& arguments) { return CheckKeys(arguments, {}); }

}  // namespace gloveport
