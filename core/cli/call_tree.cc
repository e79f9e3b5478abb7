#include "gloveport/core/cli/call_tree.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr TreeMarks kBoxes{"├─ ", "└─ ", "│  ", "   "};
constexpr TreeMarks kAscii{"|- ", "`- ", "|  ", "   "};

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool ShowsUtf8() {
  if (Variable("TERM") == "dumb") return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale(Variable(name));
    if (locale.empty()) continue;
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

const TreeMarks& TreeMarks::For(const Console& console) {
  return console.notes_on_terminal() && ShowsUtf8() ? kBoxes : kAscii;
}

void TreeBranch::Draw(std::string_view first, std::string_view rest, std::string_view text,
                      Style style) const {
  std::string all;
  for (const std::string_view line : SplitLines(text)) {
    all += all.empty() ? prefix_ + std::string(first) : "\n" + prefix_ + std::string(rest);
    all += console_->Paint(line, style);
  }
  console_->Note(all);
}

}  // namespace gloveport
