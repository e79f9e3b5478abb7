// The options --audit and --audit-key, and what becomes of them.
#ifndef GLOVEPORT_CORE_CLI_AUDIT_OPTION_H_
#define GLOVEPORT_CORE_CLI_AUDIT_OPTION_H_

#include <memory>
#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/record/audit_log.h"

namespace gloveport {

struct AuditFile {
  std::string file;  // or a folder; empty: no log
  std::string key;   // PEM file of a private key; empty: not signed
};

// Null where none is wanted. Errors name the option.
Result<std::shared_ptr<AuditLog>> OpenAuditLog(const AuditFile& options);

// Seals the log and says where it is and what its head is, which is to be kept elsewhere. False, and said,
// where it could not be written to its end. Does nothing without a log.
bool FinishAuditLog(const std::shared_ptr<AuditLog>& log, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_AUDIT_OPTION_H_
