// Inspector: asks a confined process in which no model code ever runs what a text is. Each question goes to a
// fresh fork, so that one hostile text cannot own the next verdict. Thread-safe.
#ifndef GLOVEPORT_CORE_HOST_INSPECTOR_H_
#define GLOVEPORT_CORE_HOST_INSPECTOR_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/host/scratch_folder.h"
#include "gloveport/core/host/session_pool.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

// What an inspector's template has loaded: what judges code, or JSON Schema besides.
enum class InspectorTask { kJudge, kValidate };

class Inspector {
 public:
  explicit Inspector(SessionPool& pool) : pool_(pool) {}

  // Starts what judges code, up to a fork that the first question takes, so that the first cell need not wait
  // for it. Failures show with the first question.
  void WarmUp();

  // kDeadlineExceeded, kProtocol, kClosed where the question could not be answered: the caller must not run
  // the cell.
  Result<Verdict> Check(const Policy& policy, std::string_view code, const std::vector<std::string>& tools);
  Result<Explanation> Explain(const Policy& policy, std::string_view code,
                              const std::vector<std::string>& tools);
  Result<SyntaxInfo> Syntax(std::string_view code);
  Result<std::vector<SchemaError>> Validate(const Value& value, const Value& schema);

 private:
  Result<Value> Ask(InspectorTask task, const std::string& operation, const Value& args);

  Result<std::unique_ptr<SessionProcess>> TakeProcess(InspectorTask task);
  std::unique_ptr<SessionProcess> TakeWarm();  // null where there is none
  Status MakeScratchFolder();

  SessionPool& pool_;
  std::mutex warm_mutex_;  // held over the warm-up: a question that comes meanwhile waits for it
  std::unique_ptr<SessionProcess> warm_;
  std::mutex mutex_;
  std::optional<ScratchFolder> scratch_;  // the degraded mode needs a folder even if nothing is written there
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_INSPECTOR_H_
