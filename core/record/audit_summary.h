// AuditSummary: what a reader of an answer asks of the log behind it: what ran, how it ended, which files and
// tools it used, what it tried and was refused, who allowed what, what it took.
#ifndef GLOVEPORT_CORE_RECORD_AUDIT_SUMMARY_H_
#define GLOVEPORT_CORE_RECORD_AUDIT_SUMMARY_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gloveport/core/wire/value_json.h"

namespace gloveport {

struct ToolUse {
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  double seconds = 0;
};

struct AttemptCount {
  std::string source;  // "kernel", "interpreter", "host", "inspector"
  std::string rule;
  std::string what;
  std::uint64_t count = 0;
};

struct ApprovalLine {
  std::string subject;  // "cell" or the tool's name
  bool allowed = false;
  bool always = false;
  std::string by;
  std::string reason;
};

struct FileUse {
  std::string source;
  std::string path;
  std::string mode;
  bool allowed = true;
  friend auto operator<=>(const FileUse&, const FileUse&) = default;
};

struct AuditSummary {
  std::string first_time;
  std::string last_time;
  std::map<std::string, std::string> sessions;  // id to the policy's name
  std::set<std::string> layers;                 // active in all sessions
  std::map<std::string, std::uint64_t> cells;   // by outcome
  std::uint64_t unfinished_cells = 0;           // that began and have no end in the log
  std::map<std::string, std::uint64_t> verdicts;
  std::map<std::string, ToolUse> tools;
  std::set<std::string> imports;
  std::set<FileUse> files;
  std::vector<AttemptCount> attempts;
  std::vector<ApprovalLine> approvals;
  std::vector<std::string> limits;  // messages
  std::vector<Json> answers;        // "value" of each final answer, or its hash
  double wall_s = 0;
  double cpu_s = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t displays = 0;
  std::map<std::string, std::uint64_t> state_changes;
  std::string stop_reason;  // of an agent's run; empty where there was none
};

// Of records that verified. Members that are not as they should be are passed over.
AuditSummary Summarize(const std::vector<Json>& records);
Json ToJson(const AuditSummary& summary);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_AUDIT_SUMMARY_H_
