#include "gloveport/core/cli/audit_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxInline = 100;
constexpr std::size_t kMaxCodeLines = 12;

// What stands behind the kind on a record's line, and what comes below it.
struct Line {
  std::string text;
  Style style = Style::kPlain;
  std::string below;
};

std::string Short(std::string text, std::size_t limit = kMaxInline) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  if (text.size() > limit) text = ToValidUtf8(text.substr(0, limit)) + "...";
  return Console::Safe(text);
}

std::string Hash(const std::string& hash) { return hash.substr(0, 12); }

std::string Indented(std::string_view text) {
  std::string block;
  std::size_t shown = 0;
  while (!text.empty() && shown++ < kMaxCodeLines) {
    const auto end = std::min(text.find('\n'), text.size());
    block += fmt::format("{:36}| {}\n", "", Console::Safe(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!text.empty()) block += fmt::format("{:36}| ...\n", "");
  return block;
}

// A value as it was kept: its text, or its hash where it was too large.
std::string Kept(const Json& kept) {
  if (kept.contains("value")) return Short(DumpJson(kept["value"]));
  return fmt::format("{} bytes, sha256 {}", CountOf(kept, "bytes"), Hash(TextOf(kept, "sha256")));
}

std::string Arguments(const Json& args) {
  const Json& map = MemberOf(args, "value");
  if (!map.is_object()) return Kept(args);
  std::vector<std::string> parts;
  for (const auto& [name, value] : map.items()) parts.push_back(name + "=" + DumpJson(value));
  return Short(fmt::format("{}", fmt::join(parts, ", ")));
}

Line SessionLine(const Json& record) {
  std::vector<std::string> layers;
  for (const auto& [name, layer] : MemberOf(record, "layers").items()) {
    if (FlagOf(layer, "active")) layers.push_back(name);
  }
  std::string python = TextOf(record, "python");
  python = python.substr(0, python.find(' '));
  const std::string branch = TextOf(record, "branch_of");
  Line line{
      fmt::format("policy {} (sha256 {}), Python {}, {} tools{}",
                  Short(TextOf(MemberOf(record, "policy"), "name")), Hash(TextOf(record, "policy_sha256")),
                  Short(python), MemberOf(record, "tools").size(),
                  branch.empty() ? "" : ", branch of " + Short(branch)),
      Style::kBold, ""};
  line.below = Indented(fmt::format("layers: {}", fmt::join(layers, " ")));
  return line;
}

Line CellLine(const Json& record) {
  return {"sha256 " + Hash(TextOf(record, "sha256")), Style::kBold, Indented(TextOf(record, "code"))};
}

Line VerdictLine(const Json& record) {
  const std::string decision = TextOf(record, "decision");
  Line line{decision, decision == "allow" ? Style::kGood : Style::kBad, ""};
  for (const Json& finding : MemberOf(record, "findings")) {
    line.below += Indented(fmt::format("line {}, column {}: {} [{}]", CountOf(finding, "line"),
                                       CountOf(finding, "column"), TextOf(finding, "message"),
                                       TextOf(finding, "rule")));
  }
  return line;
}

Line AskedLine(const Json& record) {
  const std::string tool = TextOf(record, "tool");
  return {
      fmt::format("#{} asked for {}: {}", CountOf(record, "approval"),
                  tool.empty() ? "the cell" : Short(tool + "(" + Arguments(MemberOf(record, "args")) + ")"),
                  Short(TextOf(record, "reason"))),
      Style::kWarning, ""};
}

Line DecisionLine(const Json& record) {
  const bool allowed = FlagOf(record, "allowed");
  const std::string reason = TextOf(record, "reason");
  return {
      fmt::format("#{} {}{} by {}{}{}", CountOf(record, "approval"), allowed ? "allowed" : "denied",
                  FlagOf(record, "always") ? " always" : "", Short(TextOf(record, "by")),
                  reason.empty() ? "" : ": " + Short(reason), record.contains("edited") ? ", edited" : ""),
      allowed ? Style::kGood : Style::kBad, ""};
}

Line ToolCallLine(const Json& record) {
  return {fmt::format("{}({})", Short(TextOf(record, "tool")), Arguments(MemberOf(record, "args"))),
          Style::kPlain, ""};
}

Line ToolResultLine(const Json& record) {
  const bool ok = FlagOf(record, "ok");
  return {fmt::format("{} -> {}  ({:.1f} ms)", Short(TextOf(record, "tool")),
                      ok ? Kept(MemberOf(record, "result")) : Short(TextOf(record, "error")),
                      NumberOf(record, "duration_s") * 1e3),
          ok ? Style::kPlain : Style::kBad, ""};
}

Line RefusalLine(const Json& record) {
  return {fmt::format("[{}] {} {}: {}", Short(TextOf(record, "source")), Short(TextOf(record, "rule")),
                      Short(TextOf(record, "what")), Short(TextOf(record, "message"))),
          Style::kBad, ""};
}

Line OpenLine(const Json& record) {
  const bool allowed = FlagOf(record, "allowed");
  return {fmt::format("[{}] {} {}{}", Short(TextOf(record, "source")), Short(TextOf(record, "mode")),
                      Short(TextOf(record, "path")), allowed ? "" : ": refused"),
          allowed ? Style::kPlain : Style::kBad, ""};
}

Line ImportLine(const Json& record) {
  return {Short(TextOf(record, "module")) + (FlagOf(record, "allowed") ? "" : ": refused"),
          FlagOf(record, "allowed") ? Style::kPlain : Style::kBad, ""};
}

Line CellEndLine(const Json& record) {
  const std::string outcome = TextOf(record, "outcome");
  const Json& usage = MemberOf(record, "usage");
  Line line{fmt::format("{}, state {}  (wall {:.3f} s, CPU {:.3f} s, {:.0f} MiB, {} bytes written)", outcome,
                        TextOf(record, "state"), NumberOf(usage, "wall_s"),
                        NumberOf(usage, "cpu_user_s") + NumberOf(usage, "cpu_system_s"),
                        NumberOf(usage, "max_rss_bytes") / (1 << 20), CountOf(usage, "output_bytes")),
            outcome == "ok" ? Style::kGood : Style::kBad, ""};
  if (const Json& value = MemberOf(record, "value"); value.is_object())
    line.below += Indented("value: " + Short(TextOf(value, "repr")));
  if (const Json& error = MemberOf(record, "error"); error.is_object())
    line.below += Indented(fmt::format("{}: {}", TextOf(error, "type"), TextOf(error, "message")));
  if (const Json& answer = MemberOf(record, "final_answer"); answer.is_object())
    line.below += Indented("final answer: " + Kept(answer));
  for (const char* stream : {"stdout", "stderr"}) {
    const Json& output = MemberOf(record, stream);
    if (CountOf(output, "bytes") > 0)
      line.below += Indented(fmt::format("{}: {} bytes, sha256 {}", stream, CountOf(output, "bytes"),
                                         Hash(TextOf(output, "sha256"))));
  }
  return line;
}

Line StateLine(const Json& record) {
  return {Short(TextOf(record, "change") + " " + TextOf(record, "name")), Style::kPlain, ""};
}

std::string FileText(const Json& file) {
  return fmt::format("{} ({} bytes, sha256 {})", Short(TextOf(file, "path")), CountOf(file, "bytes"),
                     Hash(TextOf(file, "sha256")));
}

Line PutFileLine(const Json& record) {
  return {FileText(record) + (record.contains("data") ? "" : ", content not kept"), Style::kPlain, ""};
}

Line RemoveFileLine(const Json& record) { return {Short(TextOf(record, "path")), Style::kPlain, ""}; }

Line FilesLine(const Json& record) {
  const Json& files = MemberOf(record, "files");
  Line line{fmt::format("{} in the work folder", files.size()), Style::kPlain, ""};
  for (const Json& file : files) line.below += Indented(FileText(file));
  return line;
}

Line SetLine(const Json& record) {
  return {fmt::format("{} = {}", Short(TextOf(record, "name")), Kept(record)), Style::kPlain, ""};
}

// The members of a record that has no form of its own.
Line OtherLine(const Json& record) {
  Json rest = record;
  for (const char* known : {"seq", "time", "kind", "session", "cell", "prev", "hash"}) rest.erase(known);
  return {rest.empty() ? "" : Short(DumpJson(rest), 200), Style::kPlain, ""};
}

Line LineOf(const Json& record) {
  static const std::map<std::string, Line (*)(const Json&), std::less<>> kForms = {
      {"session", SessionLine},
      {"cell", CellLine},
      {"verdict", VerdictLine},
      {"approval", AskedLine},
      {"decision", DecisionLine},
      {"tool_call", ToolCallLine},
      {"tool_result", ToolResultLine},
      {"refusal", RefusalLine},
      {"open", OpenLine},
      {"import", ImportLine},
      {"cell_end", CellEndLine},
      {"state", StateLine},
      {"put_file", PutFileLine},
      {"remove_file", RemoveFileLine},
      {"files", FilesLine},
      {"set", SetLine},
  };
  const auto form = kForms.find(TextOf(record, "kind"));
  return form == kForms.end() ? OtherLine(record) : form->second(record);
}

// ---- the summary ----

class Page {
 public:
  explicit Page(const Console& console) : console_(console) {}
  void Row(std::string_view name, const std::string& text, Style style = Style::kPlain) {
    page_ +=
        fmt::format("{:<11} {}\n", name == last_ ? "" : name, console_.PaintData(Console::Safe(text), style));
    last_ = name;
  }
  std::string Take() { return std::move(page_); }

 private:
  const Console& console_;
  std::string page_;
  std::string last_;
};

std::string Counts(const std::map<std::string, std::uint64_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} {}", count, name));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string RecordLines(const Json& record, const Console& console) {
  const Line line = LineOf(record);
  const std::string time = TextOf(record, "time");
  const std::string cell = record.contains("cell") ? fmt::format("#{}", CountOf(record, "cell")) : "";
  return fmt::format(
      "{:>5} {} {:<4} {:<4} {:<11} {}\n{}", CountOf(record, "seq"),
      console.PaintData(Console::Safe(time.size() > 23 ? time.substr(11, 12) : time), Style::kDim),
      Short(TextOf(record, "session")), cell,
      console.PaintData(fmt::format("{:<11}", Short(TextOf(record, "kind"))), Style::kHeading),
      console.PaintData(line.text, line.style), line.below);
}

std::string SummaryPage(const AuditSummary& summary, const Console& console) {
  Page page(console);
  page.Row("time", summary.first_time + " to " + summary.last_time);
  for (const auto& [session, policy] : summary.sessions) page.Row("session", session + ", policy " + policy);
  page.Row("layers", fmt::format("{}", fmt::join(summary.layers, " ")));
  page.Row(
      "cells",
      Counts(summary.cells) +
          (summary.unfinished_cells > 0 ? fmt::format(", {} without an end", summary.unfinished_cells) : ""));
  if (!summary.verdicts.empty()) page.Row("verdicts", Counts(summary.verdicts));
  page.Row("used",
           fmt::format("{:.3f} s wall, {:.3f} s CPU, {:.0f} MiB at most, {} bytes written, {} displays",
                       summary.wall_s, summary.cpu_s, static_cast<double>(summary.peak_rss_bytes) / (1 << 20),
                       summary.output_bytes, summary.displays));
  for (const std::string& limit : summary.limits) page.Row("limit", limit, Style::kBad);
  if (!summary.state_changes.empty()) page.Row("state", Counts(summary.state_changes));
  for (const auto& [tool, use] : summary.tools)
    page.Row("tool", fmt::format("{}: {} calls, {} failed, {:.1f} ms", tool, use.calls, use.failed,
                                 use.seconds * 1e3));
  if (!summary.imports.empty()) page.Row("imports", fmt::format("{}", fmt::join(summary.imports, " ")));
  for (const FileUse& file : summary.files)
    page.Row("file",
             fmt::format("{} {} [{}]{}", file.mode, file.path, file.source, file.allowed ? "" : " refused"),
             file.allowed ? Style::kPlain : Style::kBad);
  for (const ApprovalLine& line : summary.approvals)
    page.Row(
        "approval",
        fmt::format("{} {}{} by {}{}", line.subject, line.allowed ? "allowed" : "denied",
                    line.always ? " always" : "", line.by, line.reason.empty() ? "" : ": " + line.reason),
        line.allowed ? Style::kGood : Style::kBad);
  for (const AttemptCount& attempt : summary.attempts)
    page.Row("refused",
             fmt::format("{} {} [{}], {} times", attempt.rule, attempt.what, attempt.source, attempt.count),
             Style::kBad);
  if (summary.attempts.empty()) page.Row("refused", "nothing");
  for (const Json& answer : summary.answers) page.Row("answer", Short(DumpJson(answer), 400), Style::kBold);
  if (!summary.stop_reason.empty()) page.Row("stopped", summary.stop_reason);
  return page.Take();
}

std::string CheckLines(const LogCheck& check, const std::string& file, const Console& console) {
  const Style style = check.end == LogEnd::kBroken   ? Style::kBad
                      : check.end == LogEnd::kSealed ? Style::kGood
                                                     : Style::kWarning;
  std::string text =
      fmt::format("{}: {}\n", Console::Safe(file), console.PaintData(LogEndName(check.end), style));
  text += fmt::format("  records that hold  {}\n  head               {}\n", check.records, check.head);
  if (!check.problem.empty())
    text += fmt::format("  problem            {}{}\n",
                        check.broken_line ? fmt::format("line {}: ", *check.broken_line) : "",
                        Console::Safe(check.problem));
  if (check.signatures > 0)
    text += fmt::format("  signatures         {} right, the last covers {} records\n", check.signatures,
                        check.signed_records.value_or(0));
  if (check.unchecked_signatures > 0)
    text += fmt::format("  signatures         {} not checked: give the public key with --key\n",
                        check.unchecked_signatures);
  if (check.end == LogEnd::kOpen || check.end == LogEnd::kTorn)
    text +=
        "  what it proves     these records are as they were written; whether more came after them, it "
        "cannot say\n";
  if (check.holds() && check.signatures == 0)
    text +=
        "  what it cannot     a chain that somebody computed anew is found only by a signature, or by a head "
        "that was\n"
        "                     kept elsewhere (--head)\n";
  return text;
}

}  // namespace gloveport
