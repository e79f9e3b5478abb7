#include "gloveport/core/cli/check_file.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr std::string_view kFuture = "from __future__ ";
constexpr std::string_view kAnswer = "final_answer(";
constexpr std::string_view kReplaced = "_replaced_later_";

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string_view NameAt(std::string_view line, std::size_t at) {
  std::size_t end = at;
  while (end < line.size() && IsNameCharacter(line[end])) ++end;
  return line.substr(at, end - at);
}

// The name of the function or class whose definition begins with this line; empty where none does.
std::string_view DefinedBy(std::string_view line) {
  for (const std::string_view word : {"async def ", "def ", "class "}) {
    if (line.starts_with(word)) return NameAt(line, word.size());
  }
  return {};
}

// The name that this line gives a value; empty where it gives none.
std::string_view AssignedBy(std::string_view line) {
  const std::string_view name = NameAt(line, 0);
  if (name.empty()) return {};
  const std::string_view rest = Trim(line.substr(name.size()));
  return rest.starts_with('=') && !rest.starts_with("==") ? name : std::string_view();
}

// The definitions of `line` and of all lines behind it, which were seen before it, are in `later`.
std::string Replaced(std::string_view line, std::set<std::string, std::less<>>& later) {
  const std::string_view defined = DefinedBy(line);
  const std::string_view name = defined.empty() ? AssignedBy(line) : defined;
  if (name.empty()) return std::string(line);
  const bool is_last = later.insert(std::string(name)).second;
  if (is_last || defined.empty()) return std::string(line);
  const auto at = static_cast<std::size_t>(name.data() - line.data());
  return std::string(line.substr(0, at)) + std::string(kReplaced) + std::string(line.substr(at));
}

// final_answer(...) as a call that returns and takes anything.
std::string WithoutAnswer(std::string line) {
  for (std::size_t at = line.find(kAnswer); at != std::string::npos; at = line.find(kAnswer, at + 1)) {
    if (at == 0 || !IsNameCharacter(line[at - 1])) line.replace(at, kAnswer.size(), "print(");
  }
  return line;
}

// Takes the imports from __future__ out of the lines of `text`.
std::vector<std::string_view> TakeFutures(std::string_view text, std::set<std::string>& futures) {
  std::vector<std::string_view> lines = SplitLines(text);
  for (std::string_view& line : lines) {
    if (!line.starts_with(kFuture)) continue;
    futures.emplace(line);
    line = {};
  }
  return lines;
}

}  // namespace

CheckFile MakeCheckFile(std::string_view import_line, const std::vector<std::string>& earlier,
                        std::string_view code) {
  std::set<std::string> futures;
  std::vector<std::string_view> before;
  for (const std::string& cell : earlier) {
    const auto lines = TakeFutures(cell, futures);
    before.insert(before.end(), lines.begin(), lines.end());
  }
  const auto own = TakeFutures(code, futures);
  std::set<std::string, std::less<>> later;
  for (const std::string_view line : own) {
    if (const std::string_view name = DefinedBy(line); !name.empty()) later.emplace(name);
    if (const std::string_view name = AssignedBy(line); !name.empty()) later.emplace(name);
  }
  std::vector<std::string> kept(before.size());
  for (std::size_t i = before.size(); i-- > 0;) kept[i] = WithoutAnswer(Replaced(before[i], later));

  CheckFile file;
  for (const std::string& line : futures) file.text += line + "\n";
  file.text += std::string(import_line) + "\n";
  for (const std::string& line : kept) file.text += line + "\n";
  file.lines_before = static_cast<int>(std::count(file.text.begin(), file.text.end(), '\n'));
  for (const std::string_view line : own) file.text += std::string(line) + "\n";
  return file;
}

}  // namespace gloveport
