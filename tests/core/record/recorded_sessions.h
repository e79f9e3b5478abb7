// Real sessions whose audit logs the tests read, change and replay.
#ifndef GLOVEPORT_TESTS_CORE_RECORD_RECORDED_SESSIONS_H_
#define GLOVEPORT_TESTS_CORE_RECORD_RECORDED_SESSIONS_H_

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "gloveport/core/host/runtime.h"
#include "gloveport/core/record/audit_log.h"

namespace gloveport {

// `lookup(key)`: the length of the key plus `offset`; fails for "none".
std::shared_ptr<ToolRegistry> LookupTools(std::int64_t offset);

// An approver that decides at once.
class DecidingApprover : public Approver {
 public:
  using Decide = std::function<ApprovalDecision(const ApprovalRequest&)>;
  explicit DecidingApprover(Decide decide) : decide_(std::move(decide)) {}
  void Ask(const ApprovalRequest& request, Answer answer) override { answer(decide_(request)); }

 private:
  const Decide decide_;
};

// Opens sessions with a log; sealed when it goes.
class Recording {
 public:
  explicit Recording(const std::filesystem::path& path, AuditLogOptions options = {});
  ~Recording();

  // `policy` is the text of one.
  std::unique_ptr<Session> Open(std::string_view policy, std::shared_ptr<const ToolRegistry> tools = nullptr,
                                std::shared_ptr<Approver> approver = nullptr);
  AuditLog& log() { return *log_; }

 private:
  std::shared_ptr<AuditLog> log_;
  std::unique_ptr<Runtime> runtime_;
};

// Tools, approvals of both kinds, refusals by inspector and kernel, output, an error, files, a checkpoint.
void RecordALittleOfEverything(const std::filesystem::path& path, AuditLogOptions options = {});

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_RECORD_RECORDED_SESSIONS_H_
