#include "gloveport/tools/builtin/regex_search.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "gloveport/tools/binding.h"
#include "gloveport/tools/builtin/text_pattern.h"

namespace gloveport {

struct RegexMatch {
  std::string text;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::vector<std::optional<std::string>> groups;
  std::map<std::string, std::optional<std::string>> named;
};
constexpr auto ToolFields(const RegexMatch*) {
  return std::make_tuple(Field("text", &RegexMatch::text),
                         Field("start", &RegexMatch::start, "in characters"), Field("end", &RegexMatch::end),
                         Field("groups", &RegexMatch::groups, "from group 1 on"),
                         Field("named", &RegexMatch::named, "groups with names"));
}

namespace {

constexpr std::uint32_t kMaxMatches = 100'000;
constexpr std::size_t kMaxResultBytes = 16u << 20;

// Counts characters up to places that come in order.
class CharacterCounter {
 public:
  explicit CharacterCounter(std::string_view text) : text_(text) {}
  std::uint64_t At(std::size_t byte) {
    for (; at_ < byte; ++at_) count_ += (static_cast<unsigned char>(text_[at_]) & 0xC0) != 0x80;
    return count_;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t count_ = 0;
};

std::size_t NextCharacter(std::string_view text, std::size_t at) {
  do {
    ++at;
  } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

RegexMatch MatchOf(const RE2& pattern, std::string_view text, const std::vector<re2::StringPiece>& pieces,
                   CharacterCounter& counter) {
  const auto text_of = [](const re2::StringPiece& piece) -> std::optional<std::string> {
    if (piece.data() == nullptr) return std::nullopt;
    return std::string(piece.data(), piece.size());
  };
  RegexMatch match;
  const auto begin = static_cast<std::size_t>(pieces[0].data() - text.data());
  match.text = *text_of(pieces[0]);
  match.start = counter.At(begin);
  match.end = counter.At(begin + pieces[0].size());
  for (std::size_t i = 1; i < pieces.size(); ++i) match.groups.push_back(text_of(pieces[i]));
  for (const auto& [number, name] : pattern.CapturingGroupNames())
    match.named[name] = text_of(pieces[static_cast<std::size_t>(number)]);
  return match;
}

Result<std::vector<RegexMatch>> Search(const std::string& pattern_text, std::string_view text,
                                       PatternFlags flags, std::uint32_t max_matches,
                                       const CallContext& context) {
  ASSIGN_OR_RETURN(const auto pattern, CompilePattern(pattern_text, flags));
  std::vector<RegexMatch> matches;
  std::vector<re2::StringPiece> pieces(static_cast<std::size_t>(pattern->NumberOfCapturingGroups()) + 1);
  CharacterCounter counter(text);
  const re2::StringPiece whole(text.data(), text.size());
  const std::size_t most = std::min(max_matches, kMaxMatches);
  const std::size_t copies = pattern->NamedCapturingGroups().empty() ? 1 : 2;  // by number and by name
  std::size_t bytes = 0;
  for (std::size_t at = 0; at <= text.size() && matches.size() < most;) {
    if (context.stop.stop_requested()) return Fail(ErrorCode::kClosed, "the search was stopped");
    if (!pattern->Match(whole, at, text.size(), RE2::UNANCHORED, pieces.data(),
                        static_cast<int>(pieces.size())))
      break;
    // Groups may overlap, so that a short text gives a long result.
    for (const re2::StringPiece& piece : pieces)
      bytes += copies * (sizeof(std::optional<std::string>) + piece.size());
    if (bytes > kMaxResultBytes)
      return Fail(ErrorCode::kResourceExhausted, "the matches and their groups are too large: ask for fewer");
    matches.push_back(MatchOf(*pattern, text, pieces, counter));
    const auto end = static_cast<std::size_t>(pieces[0].data() - text.data()) + pieces[0].size();
    at = pieces[0].empty() ? NextCharacter(text, end) : end;
  }
  return matches;
}

}  // namespace

Result<std::shared_ptr<Tool>> MakeRegexSearch() {
  return BindFunction(
      "regex_search", "Finds all matches of a regular expression in a text, each in linear time",
      [](const std::string& pattern, std::string_view text, bool ignore_case, bool multi_line, bool dot_all,
         std::uint32_t max_matches, CallContext& context) {
        return Search(pattern, text, {ignore_case, multi_line, dot_all}, max_matches, context);
      },
      {Arg("pattern", "RE2 syntax: no lookaround, no backreferences"), Arg("text", ""),
       Arg("ignore_case", "", false), Arg("multi_line", "^ and $ match at each line", false),
       Arg("dot_all", ". matches line ends too", false), Arg("max_matches", "", 1000)});
}

}  // namespace gloveport
