// ClientTool: a tool whose calls the protocol's client answers. Thread-safe as its forwarder is.
#ifndef GLOVEPORT_CORE_SERVE_CLIENT_TOOL_H_
#define GLOVEPORT_CORE_SERVE_CLIENT_TOOL_H_

#include <functional>
#include <utility>

#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

// Reads a tool as a client declares it:
// {"name","description","parameters":[{"name","type","default"?}],"returns"?,"async"?,"timeout_s"?}. A
// parameter's type is any, boolean, integer, number, string, bytes, array, object, or a JSON Schema.
Result<ToolSpec> ParseToolDeclaration(const Json& declaration);

class ClientTool : public Tool {
 public:
  // Announces a call to the client and blocks until it is answered, stopped or out of time.
  using Forward = std::function<Result<Value>(const ToolSpec&, const Arguments&, CallContext&)>;

  ClientTool(ToolSpec spec, Forward forward) : spec_(std::move(spec)), forward_(std::move(forward)) {}

  const ToolSpec& spec() const override { return spec_; }
  Result<Value> Call(const Arguments& arguments, CallContext& context) override {
    return forward_(spec_, arguments, context);
  }

 private:
  const ToolSpec spec_;
  const Forward forward_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_CLIENT_TOOL_H_
