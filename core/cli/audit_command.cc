#include "gloveport/core/cli/audit_command.h"

#include <algorithm>
#include <utility>

#include "gloveport/core/cli/audit_page.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/host/result_json.h"
#include "gloveport/core/record/audit_summary.h"
#include "gloveport/core/record/log_reader.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

Json ToJson(const LogCheck& check) {
  Json json = {{"holds", check.holds()},         {"end", LogEndName(check.end)},
               {"records", check.records},       {"head", check.head},
               {"signatures", check.signatures}, {"unchecked_signatures", check.unchecked_signatures}};
  if (check.signed_records) json["signed_records"] = *check.signed_records;
  if (check.broken_line) json["line"] = *check.broken_line;
  if (!check.problem.empty()) json["problem"] = check.problem;
  return json;
}

bool Has(const std::vector<std::string>& wanted, const std::string& text) {
  return wanted.empty() || std::ranges::find(wanted, text) != wanted.end();
}

bool IsWanted(const AuditOptions& options, const Json& record) {
  if (!Has(options.kinds, TextOf(record, "kind"))) return false;
  if (!Has(options.sources, TextOf(record, "source"))) return false;
  if (!options.session.empty() && TextOf(record, "session") != options.session) return false;
  return !options.cell || (record.contains("cell") && CountOf(record, "cell") == *options.cell);
}

// Whatever is wrong with the files that were named is a matter of how the command was called.
ExitCode Failed(const Program& program, std::string_view action, const AuditOptions& options,
                const Error& error, Console& console) {
  ReportFailure(program, "audit " + std::string(action), error, FailureFormOf(options.json), console);
  return kExitUsage;
}

// What does not hold is said before anything that is taken from the log.
ExitCode Warn(const Program& program, const LogCheck& check, const AuditOptions& options, Console& console) {
  if (check.end == LogEnd::kBroken || check.end == LogEnd::kTorn)
    console.Note(program.name + " audit: " + CheckLines(check, options.file, Console::Plain()),
                 Style::kWarning);
  return check.holds() ? kExitOk : kExitProgramFailed;
}

}  // namespace

ExitCode RunAuditVerify(const Program& program, const AuditOptions& options, Console& console) {
  LogCheckOptions wanted;
  if (!options.head.empty()) wanted.head = options.head;
  if (!options.key.empty()) {
    auto key = SigningKey::Load(options.key);
    if (!key) return Failed(program, "verify", options, key.error(), console);
    wanted.key = std::move(*key);
  }
  const auto check = CheckLog(options.file, wanted);
  if (!check) return Failed(program, "verify", options, check.error(), console);
  console.Data(options.json ? DumpJson(ToJson(*check)) + "\n" : CheckLines(*check, options.file, console));
  return check->holds() ? kExitOk : kExitProgramFailed;
}

ExitCode RunAuditShow(const Program& program, const AuditOptions& options, Console& console) {
  const auto check = CheckLog(options.file, {}, [&](const ChainedRecord& record) {
    if (!IsWanted(options, record.body)) return;
    console.Data(options.json ? DumpJson(record.body) + "\n" : RecordLines(record.body, console));
  });
  if (!check) return Failed(program, "show", options, check.error(), console);
  return Warn(program, *check, options, console);
}

ExitCode RunAuditSummary(const Program& program, const AuditOptions& options, Console& console) {
  std::vector<Json> records;
  const auto check =
      CheckLog(options.file, {}, [&](const ChainedRecord& record) { records.push_back(record.body); });
  if (!check) return Failed(program, "summary", options, check.error(), console);
  const AuditSummary summary = Summarize(records);
  if (options.json) {
    Json json = gloveport::ToJson(summary);
    json["log"] = ToJson(*check);
    console.Data(DumpJson(json) + "\n");
  } else {
    console.Data(SummaryPage(summary, console) + "\n" + CheckLines(*check, options.file, console));
  }
  return check->holds() ? kExitOk : kExitProgramFailed;
}

ExitCode RunAuditKey(const Program& program, const AuditOptions& options, Console& console) {
  if (const Status made = SigningKey::Generate(options.file); !made)
    return Failed(program, "key", options, made.error(), console);
  const auto key = SigningKey::Load(options.file);
  if (!key) return Failed(program, "key", options, key.error(), console);
  console.Note("wrote " + Console::Safe(options.file) + " (keep it secret) and " +
               Console::Safe(options.file) + ".pub (for those who verify)");
  console.Data(key->id() + "\n");
  return kExitOk;
}

}  // namespace gloveport
