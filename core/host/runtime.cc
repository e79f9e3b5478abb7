#include "gloveport/core/host/runtime.h"

#include <fmt/core.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "gloveport/core/host/inspector.h"
#include "gloveport/core/host/interp_locator.h"
#include "gloveport/core/host/layers.h"
#include "gloveport/core/host/session_impl.h"
#include "gloveport/core/host/session_pool.h"

namespace gloveport {
namespace {

class RuntimeImpl : public Runtime {
 public:
  RuntimeImpl(std::filesystem::path interp, const RuntimeOptions& options)
      : max_sessions_(options.max_sessions),
        hook_(options.hook),
        templates_(std::move(interp), options.patience, options.imports),
        sessions_(templates_, options.min_ready),
        inspector_(sessions_),
        threads_(options.max_async_runs),
        surroundings_{sessions_, inspector_, [this] { return Admit(); }, options.record, threads_, timer_} {}

  Result<std::unique_ptr<Session>> Open(SessionOptions options) override {
    if (!options.hook) options.hook = hook_;
    // Beside the session's own template: together they take as long as one where there are two CPUs.
    if (options.policy.inspection == Inspection::kRequired)
      std::call_once(warm_inspector_once_,
                     [this] { warm_inspector_ = std::jthread([this] { inspector_.WarmUp(); }); });
    return SessionImpl::Open(std::move(options), surroundings_);
  }

  Result<Verdict> Check(const Policy& policy, std::string_view code,
                        const std::vector<std::string>& tools) override {
    return inspector_.Check(policy, code, tools);
  }
  Result<Explanation> Explain(const Policy& policy, std::string_view code,
                              const std::vector<std::string>& tools) override {
    return inspector_.Explain(policy, code, tools);
  }
  Result<SyntaxInfo> Syntax(std::string_view code) override { return inspector_.Syntax(code); }
  Result<std::vector<SchemaError>> Validate(const Value& value, const Value& schema) override {
    return inspector_.Validate(value, schema);
  }
  Result<std::vector<LayerStatus>> ProbeLayers() override { return ProbeLayersWith(templates_); }

 private:
  Result<SessionPlace> Admit() {
    if (open_sessions_.fetch_add(1) >= max_sessions_) {
      --open_sessions_;
      return Fail(ErrorCode::kResourceExhausted,
                  fmt::format("{} sessions are open, the most that this runtime allows", max_sessions_),
                  "close some, or raise RuntimeOptions::max_sessions");
    }
    return SessionPlace{fmt::format("s{}", ++last_session_), [this] { --open_sessions_; }};
  }

  const std::size_t max_sessions_;
  const std::shared_ptr<DecisionHook> hook_;
  std::atomic<std::size_t> open_sessions_{0};
  std::atomic<std::uint64_t> last_session_{0};
  TemplatePool templates_;
  SessionPool sessions_;
  Inspector inspector_;
  RunThreads threads_;
  SessionTimer timer_;
  const SessionSurroundings surroundings_;
  std::once_flag warm_inspector_once_;
  std::jthread warm_inspector_;
};

}  // namespace

Result<std::unique_ptr<Runtime>> Runtime::Create(const RuntimeOptions& options) {
  ASSIGN_OR_RETURN(std::filesystem::path interp, LocateInterp(options.interp_path));
  return std::make_unique<RuntimeImpl>(std::move(interp), options);
}

}  // namespace gloveport
