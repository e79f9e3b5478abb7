// Audit logs for people: one record as one or a few lines, a summary as a page. What they return is safe to
// show.
#ifndef GLOVEPORT_CORE_CLI_AUDIT_PAGE_H_
#define GLOVEPORT_CORE_CLI_AUDIT_PAGE_H_

#include <string>

#include "gloveport/core/cli/console.h"
#include "gloveport/core/record/audit_summary.h"
#include "gloveport/core/record/log_reader.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

std::string RecordLines(const Json& record, const Console& console);
std::string SummaryPage(const AuditSummary& summary, const Console& console);
std::string CheckLines(const LogCheck& check, const std::string& file, const Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_AUDIT_PAGE_H_
