// The operations of a connection that ask about code and values and need no session.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "gloveport/core/agent/action_parser.h"
#include "gloveport/core/host/result_json.h"
#include "gloveport/core/serve/client_tool.h"
#include "gloveport/core/serve/connection.h"
#include "gloveport/core/serve/request_policy.h"

namespace gloveport {
namespace {

// "tools" of a check: names, or declarations as in open.
Result<std::vector<std::string>> ToolNames(const Request& request) {
  std::vector<std::string> names;
  const Json* tools = request.Find("tools");
  if (tools == nullptr || tools->is_null()) return names;
  if (!tools->is_array()) return Fail(ErrorCode::kInvalidArgument, "check: \"tools\" must be a list");
  for (const Json& tool : *tools) {
    const Json name = tool.is_object() ? tool.value("name", Json()) : tool;
    if (!name.is_string()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "check: \"tools\" must list names, or objects with a \"name\"");
    }
    names.push_back(name.get<std::string>());
  }
  return names;
}

// Those that the host adds to a session whose client declares `declared`.
Status AddHostTools(const AddTools& add_tools, const Json* declared, std::vector<std::string>& names) {
  if (!add_tools) return {};
  auto own = std::make_shared<ToolRegistry>();
  for (std::size_t i = 0; declared != nullptr && i < declared->size(); ++i) {
    if (!(*declared)[i].is_object()) continue;  // a name: nothing is known of it that could collide
    ASSIGN_OR_RETURN(ToolSpec spec, ParseToolDeclaration((*declared)[i]));
    RETURN_IF_ERROR(own->Add(std::make_shared<ClientTool>(std::move(spec), nullptr)));
  }
  ASSIGN_OR_RETURN(const auto all, add_tools(own));
  for (const auto& tool : all->tools()) {
    if (std::find(names.begin(), names.end(), tool->spec().name) == names.end())
      names.push_back(tool->spec().name);
  }
  return {};
}

}  // namespace

void Connection::Ask(Request request, Question question) {
  const Json id = request.id();
  auto shared = std::make_shared<const Request>(std::move(request));
  const bool posted =
      questions_.Post([this, shared, question] { outbox_.Answer(shared->id(), (this->*question)(*shared)); });
  if (!posted) {
    outbox_.Failed(id, Error{ErrorCode::kResourceExhausted, "too many questions are waiting",
                             "wait for replies before sending more"});
  }
}

Result<Json> Connection::Check(const Request& request) {
  ASSIGN_OR_RETURN(const std::string code, request.Text("code"));
  ASSIGN_OR_RETURN(const Policy policy, PolicyOf(request));
  ASSIGN_OR_RETURN(std::vector<std::string> tools, ToolNames(request));
  RETURN_IF_ERROR(AddHostTools(add_tools_, request.Find("tools"), tools));
  ASSIGN_OR_RETURN(const Verdict verdict, runtime_.Check(policy, code, tools));
  return Json{{"verdict", ToJson(verdict)}};
}

Result<Json> Connection::Parse(const Request& request) {
  ASSIGN_OR_RETURN(const std::string text, request.Text("text"));
  const Action action = ParseAction(text, [this](std::string_view code) { return runtime_.Syntax(code); });
  if (action.checker_error) return tl::unexpected<Error>(*action.checker_error);
  Json json = {{"code", action.code ? Json(*action.code) : Json()},
               {"error", action.error == ActionError::kNone ? Json() : Json(ActionErrorName(action.error))},
               {"thought", action.thought}};
  if (action.cut_invented) json["cut_invented"] = true;
  return Json{{"action", std::move(json)}};
}

Result<Json> Connection::Validate(const Request& request) {
  ASSIGN_OR_RETURN(const Json* value, request.Need("value"));
  ASSIGN_OR_RETURN(const Json* schema, request.Need("schema"));
  ASSIGN_OR_RETURN(const Value converted, FromJson(*value));
  ASSIGN_OR_RETURN(const auto errors, runtime_.Validate(converted, FromPlainJson(*schema)));
  Json list = Json::array();
  for (const SchemaError& error : errors) list.push_back({{"path", error.path}, {"message", error.message}});
  return Json{{"errors", std::move(list)}};
}

}  // namespace gloveport
