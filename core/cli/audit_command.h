// `gloveport audit ...`: shows, verifies and sums up audit logs, and makes keys for them.
#ifndef GLOVEPORT_CORE_CLI_AUDIT_COMMAND_H_
#define GLOVEPORT_CORE_CLI_AUDIT_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct AuditOptions {
  std::string file;
  std::string key;                   // verify: PEM file
  std::string head;                  // verify: hash kept elsewhere
  std::vector<std::string> kinds;    // show: only these
  std::vector<std::string> sources;  // show: only records with this source
  std::string session;               // show
  std::optional<std::uint32_t> cell;
  bool json = false;
};

// kExitUsage where the file cannot be read, kExitProgramFailed where it is not as it was written.
ExitCode RunAuditShow(const Program& program, const AuditOptions& options, Console& console);
ExitCode RunAuditVerify(const Program& program, const AuditOptions& options, Console& console);
ExitCode RunAuditSummary(const Program& program, const AuditOptions& options, Console& console);
ExitCode RunAuditKey(const Program& program, const AuditOptions& options, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_AUDIT_COMMAND_H_
