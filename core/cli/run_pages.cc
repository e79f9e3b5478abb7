#include "gloveport/core/cli/run_pages.h"

#include <fmt/format.h>

#include <algorithm>

#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/highlight.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMostGoal = 60;
constexpr std::size_t kMostDiffLines = 2000;

std::string Cut(std::string_view text, std::size_t most) {
  std::string line;
  for (const char c : Console::Safe(text)) line += c == '\n' || c == '\t' ? ' ' : c;
  if (line.size() <= most) return line;
  line.resize(most - 3);
  return ToValidUtf8(line) + "...";
}

const Json& Run(const Json& file) { return MemberOf(file, "run"); }
const Json& Evidence(const Json& file) { return MemberOf(Run(file), "evidence"); }
const Json& ModelOf(const Json& file) { return MemberOf(Run(file), "model"); }

std::string AnswerText(const Json& file) {
  const Json& answer = MemberOf(Run(file), "answer");
  return TextOf(Run(file), "stop_reason") == "final_answer" ? answer.dump() : "";
}

std::string Outcome(const Json& step) {
  const Json& result = MemberOf(step, "result");
  if (result.is_object()) return TextOf(result, "outcome");
  if (Member(step, "code") != nullptr) return "held back by the check before it";
  return "no code (" + TextOf(step, "parse_error") + ")";
}

std::string Printed(const Json& step) {
  const Json& result = MemberOf(step, "result");
  return TextOf(result, "stdout") + TextOf(result, "stderr");
}

std::string ErrorOf(const Json& step) {
  const Json& error = MemberOf(MemberOf(step, "result"), "error");
  if (!error.is_object()) return "";
  const std::string traceback = TextOf(error, "traceback");
  return traceback.empty() ? TextOf(error, "type") + ": " + TextOf(error, "message") : traceback;
}

// A fence that no line of the text ends.
std::string Fenced(std::string_view text, std::string_view language) {
  std::string fence = "```";
  while (text.find(fence) != std::string_view::npos) fence += '`';
  const std::string_view end = text.empty() || text.ends_with('\n') ? "" : "\n";
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text, end, fence);
}

std::string Facts(const Json& file) {
  const Json& tokens = MemberOf(ModelOf(file), "tokens");
  return fmt::format("{}, model {}, policy {}, {} tokens read, {} written, {:.1f} s", TextOf(file, "time"),
                     TextOf(ModelOf(file), "name"), TextOf(Evidence(file), "policy"),
                     CountOf(tokens, "input"), CountOf(tokens, "output"), NumberOf(Evidence(file), "wall_s"));
}

std::string Indented(const std::string& text, std::string_view prefix) {
  std::string out;
  for (const std::string_view line : SplitLines(text)) out += fmt::format("{}{}\n", prefix, line);
  return out;
}

// What a diff compares, as text.
std::string Comparable(const Json& file) {
  std::string text = fmt::format("goal: {}\nmodel: {}\npolicy: {}\n", TextOf(Run(file), "goal"),
                                 TextOf(ModelOf(file), "name"), TextOf(Evidence(file), "policy"));
  for (const Json& step : MemberOf(Run(file), "steps")) {
    text += fmt::format("step {}: {}\n", CountOf(step, "step"), Outcome(step));
    text += Indented(TextOf(step, "code"), "    ") + Indented(Printed(step), "  | ");
  }
  return text + fmt::format("ended: {}\nanswer: {}\n", TextOf(Run(file), "stop_reason"), AnswerText(file));
}

Json SourceLines(std::string_view text) {
  Json lines = Json::array();
  const auto parts = SplitLines(text);
  for (std::size_t i = 0; i < parts.size(); ++i)
    lines.push_back(std::string(parts[i]) + (i + 1 < parts.size() ? "\n" : ""));
  return lines;
}

Json MarkdownCell(std::string_view text, int number) {
  return {{"cell_type", "markdown"},
          {"id", fmt::format("text-{}", number)},
          {"metadata", Json::object()},
          {"source", SourceLines(text)}};
}

Json CodeCell(const Json& step) {
  Json outputs = Json::array();
  if (const std::string text = Printed(step); !text.empty())
    outputs.push_back({{"output_type", "stream"}, {"name", "stdout"}, {"text", SourceLines(text)}});
  const Json& result = MemberOf(step, "result");
  if (const std::string repr = TextOf(result, "repr"); !repr.empty()) {
    outputs.push_back({{"output_type", "execute_result"},
                       {"execution_count", CountOf(step, "step")},
                       {"metadata", Json::object()},
                       {"data", {{"text/plain", SourceLines(repr)}}}});
  }
  if (const Json& error = MemberOf(result, "error"); error.is_object()) {
    outputs.push_back({{"output_type", "error"},
                       {"ename", TextOf(error, "type")},
                       {"evalue", TextOf(error, "message")},
                       {"traceback", SourceLines(TextOf(error, "traceback"))}});
  }
  return {{"cell_type", "code"},
          {"id", fmt::format("step-{}", CountOf(step, "step"))},
          {"metadata", Json::object()},
          {"execution_count", CountOf(step, "step")},
          {"source", SourceLines(TextOf(step, "code"))},
          {"outputs", outputs}};
}

}  // namespace

std::string RunLine(const Json& file) {
  return fmt::format("{}  {:<17}  {:>2} steps  {:<24}  {}", Cut(TextOf(file, "id"), 24),
                     TextOf(Run(file), "stop_reason"), MemberOf(Run(file), "steps").size(),
                     Cut(TextOf(ModelOf(file), "name"), 24), Cut(TextOf(Run(file), "goal"), kMostGoal));
}

std::string RunPage(const Json& file, const Console& console) {
  std::string page = console.PaintData(Console::Safe(TextOf(Run(file), "goal")), Style::kBold) + "\n";
  page += Console::Safe(Facts(file)) + "\n";
  for (const Json& step : MemberOf(Run(file), "steps")) {
    page += "\n" +
            console.PaintData(fmt::format("Step {}: {}", CountOf(step, "step"), Console::Safe(Outcome(step))),
                              Style::kHeading) +
            "\n";
    if (const std::string thought = TextOf(step, "thought"); !thought.empty())
      page += console.Block(thought) + "\n";
    int number = 0;
    const std::string code = TextOf(step, "code");
    for (const std::string_view line : SplitLines(code))
      page += fmt::format("{:>4}  {}\n", ++number, Console::Safe(line));
    if (const std::string text = Printed(step); !text.empty()) page += console.Block(text, "    | ") + "\n";
    if (const std::string error = ErrorOf(step); !error.empty())
      page += console.Block(error, "    ! ") + "\n";
    for (const Json& call : MemberOf(MemberOf(step, "result"), "tool_calls"))
      page += fmt::format("    calls {}({})\n", Console::Safe(TextOf(call, "name")),
                          Cut(MemberOf(call, "args").dump(), 100));
  }
  page += fmt::format("\nEnded: {}: {}\n", TextOf(Run(file), "stop_reason"),
                      Console::Safe(TextOf(Run(file), "stop_message")));
  if (const std::string answer = AnswerText(file); !answer.empty())
    page += "Answer: " + Console::Safe(answer) + "\n";
  if (const std::string text = TextOf(Run(file), "explanation"); !text.empty())
    page += Console::Safe(text) + "\n";
  return page;
}

std::string RunMarkdown(const Json& file) {
  std::string page =
      fmt::format("# {}\n\n{}\n", Cut(TextOf(Run(file), "goal"), 200), Console::Safe(Facts(file)));
  for (const Json& step : MemberOf(Run(file), "steps")) {
    page += fmt::format("\n## Step {}: {}\n\n", CountOf(step, "step"), Outcome(step));
    if (const std::string thought = TextOf(step, "thought"); !thought.empty())
      page += Console::Safe(thought) + "\n\n";
    if (MemberOf(step, "code").is_string()) page += Fenced(Console::Safe(TextOf(step, "code")), "python");
    if (const std::string text = Printed(step); !text.empty()) page += "\n" + Fenced(Console::Safe(text), "");
    if (const std::string error = ErrorOf(step); !error.empty())
      page += "\n" + Fenced(Console::Safe(error), "");
  }
  page += fmt::format("\n## Ended: {}\n\n{}\n", TextOf(Run(file), "stop_reason"),
                      Console::Safe(TextOf(Run(file), "stop_message")));
  if (const std::string answer = AnswerText(file); !answer.empty())
    page += "\n" + Fenced(Console::Safe(answer), "json");
  if (const std::string text = TextOf(Run(file), "explanation"); !text.empty())
    page += "\n" + Console::Safe(text) + "\n";
  return page;
}

Json RunNotebook(const Json& file) {
  Json cells = Json::array();
  int texts = 0;
  cells.push_back(MarkdownCell(fmt::format("# {}\n\n{}", TextOf(Run(file), "goal"), Facts(file)), texts++));
  for (const Json& step : MemberOf(Run(file), "steps")) {
    if (const std::string thought = TextOf(step, "thought"); !thought.empty())
      cells.push_back(MarkdownCell(thought, texts++));
    if (MemberOf(step, "code").is_string()) cells.push_back(CodeCell(step));
  }
  if (const std::string answer = AnswerText(file); !answer.empty())
    cells.push_back(MarkdownCell(
        "**Answer**\n\n" + Fenced(answer, "json") + "\n" + TextOf(Run(file), "explanation"), texts));
  return {{"nbformat", 4},
          {"nbformat_minor", 5},
          {"metadata", {{"language_info", {{"name", "python"}}}}},
          {"cells", cells}};
}

// The longest common subsequence of lines; beyond kMostDiffLines the rest is taken as it is.
std::vector<std::string> LineDiff(std::string_view before, std::string_view after) {
  auto a = SplitLines(before);
  auto b = SplitLines(after);
  a.resize(std::min(a.size(), kMostDiffLines));
  b.resize(std::min(b.size(), kMostDiffLines));
  std::vector<std::vector<std::uint16_t>> common(a.size() + 1, std::vector<std::uint16_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i] == b[j] ? static_cast<std::uint16_t>(common[i + 1][j + 1] + 1)
                                  : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<std::string> lines;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back(" " + std::string(a[i++]));
      ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      lines.push_back("-" + std::string(a[i++]));
    } else {
      lines.push_back("+" + std::string(b[j++]));
    }
  }
  return lines;
}

std::vector<std::string> RunDiff(const Json& before, const Json& after) {
  auto lines = LineDiff(Comparable(before), Comparable(after));
  const bool same =
      std::all_of(lines.begin(), lines.end(), [](const std::string& line) { return line[0] == ' '; });
  if (same) lines.clear();
  return lines;
}

}  // namespace gloveport
