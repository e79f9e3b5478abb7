#include "gloveport/core/record/audit_summary.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

class Summarizer {
 public:
  void Take(const Json& record) {
    const std::string time = TextOf(record, "time");
    if (summary_.first_time.empty()) summary_.first_time = time;
    summary_.last_time = time;
    static const std::map<std::string, void (Summarizer::*)(const Json&), std::less<>> kTakers = {
        {"session", &Summarizer::TakeSession},
        {"cell", &Summarizer::TakeCell},
        {"verdict", &Summarizer::TakeVerdict},
        {"approval", &Summarizer::TakeAsked},
        {"decision", &Summarizer::TakeDecision},
        {"tool_call", &Summarizer::TakeToolCall},
        {"tool_result", &Summarizer::TakeToolResult},
        {"refusal", &Summarizer::TakeRefusal},
        {"open", &Summarizer::TakeOpen},
        {"import", &Summarizer::TakeImport},
        {"display", &Summarizer::TakeDisplay},
        {"state", &Summarizer::TakeState},
        {"cell_end", &Summarizer::TakeCellEnd},
        {"run_end", &Summarizer::TakeRunEnd},
    };
    const auto taker = kTakers.find(TextOf(record, "kind"));
    if (taker != kTakers.end()) (this->*taker->second)(record);
  }

  AuditSummary Finish() {
    summary_.unfinished_cells = running_;
    return std::move(summary_);
  }

 private:
  void TakeSession(const Json& record) {
    summary_.sessions[TextOf(record, "session")] = TextOf(MemberOf(record, "policy"), "name");
    std::set<std::string> active;
    for (const auto& [name, layer] : MemberOf(record, "layers").items()) {
      if (FlagOf(layer, "active")) active.insert(name);
    }
    if (summary_.sessions.size() == 1) summary_.layers = active;
    std::erase_if(summary_.layers, [&](const std::string& name) { return !active.contains(name); });
  }
  void TakeCell(const Json&) { ++running_; }
  void TakeVerdict(const Json& record) {
    const std::string decision = TextOf(record, "decision");
    ++summary_.verdicts[decision];
    if (decision != "deny") return;
    for (const Json& finding : MemberOf(record, "findings"))
      Count({"inspector", TextOf(finding, "rule"), TextOf(finding, "message"), 1});
  }
  void TakeAsked(const Json& record) {
    const std::string tool = TextOf(record, "tool");
    asked_[CountOf(record, "approval")] = tool.empty() ? "cell" : tool;
  }
  void TakeDecision(const Json& record) {
    const auto asked = asked_.find(CountOf(record, "approval"));
    summary_.approvals.push_back({asked == asked_.end() ? TextOf(record, "grant") : asked->second,
                                  FlagOf(record, "allowed"), FlagOf(record, "always"), TextOf(record, "by"),
                                  TextOf(record, "reason")});
  }
  void TakeToolCall(const Json& record) { ++summary_.tools[TextOf(record, "tool")].calls; }
  void TakeToolResult(const Json& record) {
    ToolUse& use = summary_.tools[TextOf(record, "tool")];
    if (!FlagOf(record, "ok")) ++use.failed;
    use.seconds += NumberOf(record, "duration_s");
  }
  void TakeRefusal(const Json& record) {
    Count({TextOf(record, "source"), TextOf(record, "rule"), TextOf(record, "what"), 1});
  }
  void Count(AttemptCount attempt) {
    const auto same = std::ranges::find_if(summary_.attempts, [&](const AttemptCount& other) {
      return std::tie(other.source, other.rule, other.what) ==
             std::tie(attempt.source, attempt.rule, attempt.what);
    });
    if (same != summary_.attempts.end()) {
      ++same->count;
    } else {
      summary_.attempts.push_back(std::move(attempt));
    }
  }
  void TakeOpen(const Json& record) {
    summary_.files.insert({TextOf(record, "source"), TextOf(record, "path"), TextOf(record, "mode"),
                           FlagOf(record, "allowed")});
  }
  void TakeImport(const Json& record) { summary_.imports.insert(TextOf(record, "module")); }
  void TakeDisplay(const Json&) { ++summary_.displays; }
  void TakeState(const Json& record) { ++summary_.state_changes[TextOf(record, "change")]; }
  void TakeCellEnd(const Json& record) {
    if (running_ > 0) --running_;
    ++summary_.cells[TextOf(record, "outcome")];
    const Json& usage = MemberOf(record, "usage");
    summary_.wall_s += NumberOf(usage, "wall_s");
    summary_.cpu_s += NumberOf(usage, "cpu_user_s") + NumberOf(usage, "cpu_system_s");
    summary_.peak_rss_bytes = std::max(summary_.peak_rss_bytes, CountOf(usage, "max_rss_bytes"));
    summary_.output_bytes += CountOf(usage, "output_bytes");
    if (const Json& limit = MemberOf(record, "limit"); limit.is_object())
      summary_.limits.push_back(TextOf(limit, "message"));
    if (const Json& answer = MemberOf(record, "final_answer"); answer.is_object())
      summary_.answers.push_back(answer.contains("value") ? answer["value"] : MemberOf(answer, "sha256"));
  }
  void TakeRunEnd(const Json& record) { summary_.stop_reason = TextOf(record, "stop_reason"); }

  AuditSummary summary_;
  std::map<std::uint64_t, std::string> asked_;
  std::uint64_t running_ = 0;
};

}  // namespace

AuditSummary Summarize(const std::vector<Json>& records) {
  Summarizer summarizer;
  for (const Json& record : records) summarizer.Take(record);
  return summarizer.Finish();
}

Json ToJson(const AuditSummary& summary) {
  Json tools = Json::object();
  for (const auto& [name, use] : summary.tools)
    tools[name] = {{"calls", use.calls}, {"failed", use.failed}, {"seconds", use.seconds}};
  Json files = Json::array();
  for (const FileUse& file : summary.files)
    files.push_back(
        {{"source", file.source}, {"path", file.path}, {"mode", file.mode}, {"allowed", file.allowed}});
  Json attempts = Json::array();
  for (const AttemptCount& attempt : summary.attempts)
    attempts.push_back({{"source", attempt.source},
                        {"rule", attempt.rule},
                        {"what", attempt.what},
                        {"count", attempt.count}});
  Json approvals = Json::array();
  for (const ApprovalLine& line : summary.approvals)
    approvals.push_back({{"subject", line.subject},
                         {"allowed", line.allowed},
                         {"always", line.always},
                         {"by", line.by},
                         {"reason", line.reason}});
  return {{"first_time", summary.first_time},
          {"last_time", summary.last_time},
          {"sessions", summary.sessions},
          {"layers", summary.layers},
          {"cells", summary.cells},
          {"unfinished_cells", summary.unfinished_cells},
          {"verdicts", summary.verdicts},
          {"tools", std::move(tools)},
          {"imports", summary.imports},
          {"files", std::move(files)},
          {"attempts", std::move(attempts)},
          {"approvals", std::move(approvals)},
          {"limits", summary.limits},
          {"answers", summary.answers},
          {"wall_s", summary.wall_s},
          {"cpu_s", summary.cpu_s},
          {"peak_rss_bytes", summary.peak_rss_bytes},
          {"output_bytes", summary.output_bytes},
          {"displays", summary.displays},
          {"state_changes", summary.state_changes},
          {"stop_reason", summary.stop_reason}};
}

}  // namespace gloveport
