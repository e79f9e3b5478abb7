#include "gloveport/core/agent/tool_index.h"

#include <fmt/format.h>

#include <string_view>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr std::string_view kCut = "...";

// The first sentence, on one line.
std::string Gist(std::string_view description) {
  std::string line;
  for (const std::string_view part : SplitLines(description)) {
    if (Trim(part).empty() && !line.empty()) break;  // a paragraph's end
    line += (line.empty() ? "" : " ") + EscapeForTerminal(Trim(part));
  }
  const auto end = line.find(". ");
  return end == std::string::npos ? line : line.substr(0, end + 1);
}

std::string Cut(std::string text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes - kCut.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + std::string(kCut);
}

std::string ParameterList(const ToolSpec& spec) {
  std::string list;
  for (const Parameter& parameter : spec.parameters) {
    const std::string_view stars = parameter.kind == ParameterKind::kVariadic          ? "*"
                                   : parameter.kind == ParameterKind::kKeywordVariadic ? "**"
                                                                                       : "";
    list += fmt::format("{}{}{}{}", list.empty() ? "" : ", ", stars, parameter.name,
                        parameter.default_value ? "=..." : "");
  }
  return list;
}

}  // namespace

std::string ToolLine(const ToolSpec& spec, std::size_t max_bytes) {
  const std::string head = fmt::format("{}{}({})", spec.is_async ? "await " : "", spec.name,
                                       Cut(ParameterList(spec), max_bytes / 2));
  const std::string gist = Gist(spec.description);
  return Cut(gist.empty() ? head : head + "  " + gist, max_bytes);
}

std::string ToolIndex(const std::vector<ToolSpec>& tools) {
  std::string text = fmt::format(
      "# There are {} functions; each is listed with one line. Before you call one, look at it:\n"
      "# help(name) prints its signature and what it does, tools.search(\"words\") finds those that fit.\n",
      tools.size());
  for (const ToolSpec& spec : tools) text += "# " + ToolLine(spec) + "\n";
  return text;
}

}  // namespace gloveport
