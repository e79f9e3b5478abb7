#include "gloveport/tools/builtin/text_pattern.h"

#include <fmt/core.h>
#include <re2/re2.h>

#include <string>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxPatternBytes = 10'000;

bool UsesWhatRe2Lacks(std::string_view pattern) {
  for (const std::string_view sign : {"(?=", "(?!", "(?<=", "(?<!", "(?>", "(?P=", "\\1", "\\2"}) {
    if (pattern.find(sign) != std::string_view::npos) return true;
  }
  return false;
}

// "[abc]" or "[!abc]" at the beginning of `glob`, as a class; empty where it is not closed.
std::string TakeClass(std::string_view& glob) {
  const auto close = glob.find(']', glob.size() > 1 && (glob[1] == '!' || glob[1] == ']') ? 3 : 2);
  if (close == std::string_view::npos) return "";
  std::string_view inner = glob.substr(1, close - 1);
  std::string out = "[";
  if (inner.starts_with('!')) {
    out += "^/";
    inner.remove_prefix(1);
  }
  for (const char c : inner)
    out += c == '\\' || c == '[' || c == ']' || c == '^' ? std::string{'\\', c} : std::string(1, c);
  glob.remove_prefix(close + 1);
  return out + "]";
}

}  // namespace

Result<std::shared_ptr<const re2::RE2>> CompilePattern(std::string_view pattern, PatternFlags flags) {
  if (pattern.size() > kMaxPatternBytes)
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the pattern has {} bytes, more than {}", pattern.size(), kMaxPatternBytes));
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!flags.ignore_case);
  options.set_dot_nl(flags.dot_all);
  // RE2 knows ^ and $ at each line by the flag in the text only, unless it is to take POSIX syntax.
  const std::string text = (flags.multi_line ? "(?m)" : "") + std::string(pattern);
  auto compiled = std::make_shared<RE2>(text, options);
  if (compiled->ok()) return std::shared_ptr<const RE2>(std::move(compiled));
  std::string message = fmt::format("the pattern cannot be used: {}", EscapeForTerminal(compiled->error()));
  if (UsesWhatRe2Lacks(pattern))
    message += "; patterns here are RE2's: without lookaround and backreferences";
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

Result<std::shared_ptr<const re2::RE2>> CompileGlob(std::string_view glob) {
  std::string out = glob.find('/') == std::string_view::npos ? "(?s)(?:.*/)?" : "(?s)";
  while (!glob.empty()) {
    if (glob.starts_with("**/")) {
      out += "(?:[^/]*/)*";
      glob.remove_prefix(3);
      continue;
    }
    if (glob.starts_with("**")) {
      out += ".*";
      glob.remove_prefix(2);
      continue;
    }
    if (glob.front() == '[') {
      const std::string set = TakeClass(glob);
      if (!set.empty()) {
        out += set;
        continue;
      }
    }
    out += glob.front() == '*'   ? "[^/]*"
           : glob.front() == '?' ? "[^/]"
                                 : RE2::QuoteMeta(re2::StringPiece(glob.data(), 1));
    glob.remove_prefix(1);
  }
  return CompilePattern(out);
}

}  // namespace gloveport
