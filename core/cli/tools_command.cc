#include "gloveport/core/cli/tools_command.h"

#include "gloveport/core/agent/prompts.h"
#include "gloveport/core/agent/tool_index.h"
#include "gloveport/core/cli/builtin_option.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/input_schema.h"

namespace gloveport {
namespace {

Json ToolJson(const ToolSpec& spec) {
  Json json = {{"name", spec.name},
               {"signature", spec.Signature()},
               {"description", spec.description},
               {"parameters", ToJson(InputSchema(spec))}};
  if (!spec.returns_schema.is_null()) json["returns"] = ToJson(spec.returns_schema);
  return json;
}

void ShowTools(const ToolRegistry& tools, const ToolsCommandOptions& options, Console& console) {
  Json list = Json::array();
  for (const auto& tool : tools.tools()) {
    const ToolSpec& spec = tool->spec();
    if (options.json) {
      list.push_back(ToolJson(spec));
    } else {
      console.StreamData(options.brief ? ToolLine(spec) + "\n" : ToolStub(spec) + "\n");
    }
  }
  if (options.json) console.Data(DumpJson(list) + "\n");
  console.EndStream();
}

}  // namespace

ExitCode RunTools(const Program& program, const ToolsCommandOptions& options, Console& console) {
  const auto fail = [&](const Error& error) {
    return ReportFailure(program, "tools", error, FailureFormOf(options.json), console);
  };
  const auto own = WithBuiltinTools(program.tools, options.builtin, nullptr);
  if (!own) return fail(own.error());
  const auto client = OpenMcp(options.mcp, nullptr, nullptr, console);
  if (!client) return fail(client.error());
  const auto tools = AddMcpTools(*client, *own, console);
  if (!tools) return fail(tools.error());
  if (*client) console.Note(DescribeServers(**client), Style::kDim);
  if (*tools) ShowTools(**tools, options, console);
  return kExitOk;
}

}  // namespace gloveport
