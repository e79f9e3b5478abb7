#include "gloveport/tests/bench/sessions.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "gloveport/policy/codec.h"

namespace gloveport::bench {
namespace {

constexpr std::string_view kPolicy = R"({{
  "extends": "default",
  "imports": {{"allow": ["*"]}},
  "inspection": "optional",
  "preload": [{}],
  "limits": {{"wall_s": 60, "cpu_s": 60, "memory_mib": 4096, "tool_calls": 1000000000, "tool_calls_per_s": 1000000000,
             "tool_call_kib": 196608, "result_mib": 4096, "total_tool_calls": 1000000000}}
}})";

Policy MakePolicy(Preloaded preloaded) {
  const char* modules = preloaded == Preloaded::kPandas ? R"("numpy", "pandas")" : "";
  auto policy = ParsePolicy(fmt::format(kPolicy, modules), "bench");
  if (policy) return std::move(*policy);
  std::fprintf(stderr, "bench: %s\n", policy.error().message.c_str());
  std::abort();
}

}  // namespace

std::string_view PreloadedName(Preloaded preloaded) {
  return preloaded == Preloaded::kPandas ? "pandas" : "stdlib";
}

const Policy& PolicyWith(Preloaded preloaded) {
  static const Policy stdlib = MakePolicy(Preloaded::kStandardLibrary);
  static const Policy pandas = MakePolicy(Preloaded::kPandas);
  return preloaded == Preloaded::kPandas ? pandas : stdlib;
}

Result<std::unique_ptr<Runtime>> MakeRuntime(const Placement& placement, std::size_t min_ready) {
  const OnSessionCpu there(placement);
  RuntimeOptions options;
  options.min_ready = min_ready;
  return Runtime::Create(options);
}

Result<std::unique_ptr<Session>> OpenSession(Runtime& runtime, Preloaded preloaded,
                                             std::shared_ptr<const ToolRegistry> tools,
                                             Checkpoints checkpoints) {
  SessionOptions options;
  options.policy = PolicyWith(preloaded);
  options.policy.checkpoints = checkpoints;
  options.tools = std::move(tools);
  return runtime.Open(std::move(options));
}

Result<CellResult> RunCell(Session& session, std::string_view code) {
  RunOptions options;
  options.inspect = InspectMode::kOff;
  ASSIGN_OR_RETURN(CellResult result, session.Run(code, options));
  if (result.outcome == Outcome::kOk) return result;
  return Fail(ErrorCode::kInternal,
              fmt::format("a cell ended with {}: {}", OutcomeName(result.outcome),
                          result.error ? result.error->message + "\n" + result.error->traceback : ""));
}

}  // namespace gloveport::bench
