#include "gloveport/core/cli/audit_option.h"

#include <utility>

#include "gloveport/core/cli/option_error.h"

namespace gloveport {

Result<std::shared_ptr<AuditLog>> OpenAuditLog(const AuditFile& options) {
  if (options.file.empty() && options.key.empty()) return nullptr;
  if (options.file.empty())
    return Fail(ErrorCode::kInvalidArgument, "--audit-key signs an audit log, and there is none",
                "name one with --audit FILE");
  AuditLogOptions log;
  if (!options.key.empty()) {
    ASSIGN_OR_RETURN(log.key, AtOption("--audit-key", SigningKey::Load(options.key)));
  }
  return AtOption("--audit", AuditLog::Create(options.file, std::move(log)));
}

bool FinishAuditLog(const std::shared_ptr<AuditLog>& log, Console& console) {
  if (!log) return true;
  if (const Status sealed = log->Seal(); !sealed) {
    console.Failure("gloveport", sealed.error());
    return false;
  }
  console.Note(console.Paint("audit", Style::kDim) + "  " + Console::Safe(log->path().string()) + ", head " +
               log->head());
  return true;
}

}  // namespace gloveport
