#include "gloveport/interp/child/statement_scanner.h"

#include <algorithm>
#include <array>

namespace gloveport::child {
namespace {

using Kind = LastStatement::Kind;

constexpr std::array<std::string_view, 14> kCompound = {"if",     "for",     "while", "try",  "with",
                                                        "def",    "class",   "async", "else", "elif",
                                                        "except", "finally", "match", "case"};
constexpr std::array<std::string_view, 12> kSimple = {"del",    "pass",     "return",   "raise",
                                                      "global", "nonlocal", "assert",   "import",
                                                      "from",   "break",    "continue", "yield"};

bool IsNameByte(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

template <std::size_t N>
bool IsOneOf(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  LastStatement Run() {
    // Line ends that the tokenizer rewrites, and characters that move its columns.
    if (text_.find_first_of("\r\f") != std::string_view::npos || text_.starts_with("\xef\xbb\xbf")) return {};
    while (position_ < text_.size() && !failed_) ScanLogicalLine();
    if (failed_) return {};
    return last_;
  }

 private:
  unsigned char At(std::size_t i) const {
    return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0;
  }

  // What is known of the small statement that is being scanned.
  struct Statement {
    std::size_t begin = 0;
    std::size_t line = 0;
    std::size_t column = 0;
    std::size_t end = 0;  // past its last token
    std::string_view first_word;
    bool empty = true;
    bool assigns = false;  // a top-level '=' (also += and the like)
    bool colon = false;    // a top-level ':'
    bool doubtful = false;
  };

  void ScanLogicalLine() {
    const std::size_t line_begin = position_;
    while (At(position_) == ' ' || At(position_) == '\t') ++position_;
    const unsigned char c = At(position_);
    if (c == '#' || c == '\n' || position_ >= text_.size()) return SkipLine();
    if (c == '\\') return Fail();  // a continued blank line: rare, and full of rules of its own
    indented_ = position_ > line_begin;
    line_begin_ = line_begin;
    compound_ = false;
    ++logical_lines_;
    StartStatement();
    while (!failed_ && ScanToken()) {
    }
  }

  void SkipLine() {
    const std::size_t end = text_.find('\n', position_);
    position_ = end == std::string_view::npos ? text_.size() : end + 1;
    ++line_;
  }

  void StartStatement() {
    statement_ = {};
    statement_.begin = position_;
    statement_.line = line_;
    statement_.column = position_ - line_begin_;
  }

  // One token at depth 0, or a bracket with all that is in it. False at the end of the logical line.
  bool ScanToken() {
    const unsigned char c = At(position_);
    if (position_ >= text_.size() || c == '\n') return EndLogicalLine();
    if (c == ' ' || c == '\t') return ++position_, true;
    if (c == '#') return SkipComment(), true;
    if (c == '\\') return ContinueLine();
    if (c == ';') return EndStatement(), ++position_, SkipBlanks(), StartStatement(), true;
    if (IsNameByte(c)) return ScanWord();
    statement_.empty = false;
    if (c == '"' || c == '\'') return ScanString();
    if (c == '(' || c == '[' || c == '{') return ScanBracket();
    if (c == ')' || c == ']' || c == '}') return Fail(), false;
    ScanOperator();
    statement_.end = position_;
    return true;
  }

  bool EndLogicalLine() {
    if (position_ < text_.size()) ++position_;
    ++line_;
    EndStatement();
    return false;
  }

  void SkipBlanks() {
    while (At(position_) == ' ' || At(position_) == '\t') ++position_;
  }

  void SkipComment() {
    while (position_ < text_.size() && text_[position_] != '\n') ++position_;
  }

  bool ContinueLine() {
    if (At(position_ + 1) != '\n') return Fail(), false;
    position_ += 2;
    ++line_;
    return true;
  }

  bool ScanWord() {
    const std::size_t begin = position_;
    while (IsNameByte(At(position_))) ++position_;
    const std::string_view word = text_.substr(begin, position_ - begin);
    if (At(position_) == '"' || At(position_) == '\'') {  // the prefix of a string
      statement_.empty = false;
      return ScanString();
    }
    if (statement_.empty) {
      statement_.first_word = word;
      if (begin == line_begin_ && IsOneOf(kCompound, word)) compound_ = true;
    } else if (word == "for" || word == "async") {
      statement_.doubtful = true;  // parentheses would make a generator of it
    }
    if (word == "lambda") statement_.doubtful = true;  // may have '=' and ':' of its own
    statement_.empty = false;
    statement_.end = position_;
    return true;
  }

  // Whether the letters before the quote at position_ make a string with replacement fields of it.
  bool HasFields() const {
    std::size_t begin = position_;
    while (begin > 0 && IsNameByte(At(begin - 1))) --begin;
    const std::string_view prefix = text_.substr(begin, position_ - begin);
    return !prefix.empty() && prefix.find_first_not_of("fFtTrR") == std::string_view::npos &&
           prefix.find_first_of("fFtT") != std::string_view::npos;
  }

  bool ScanString() {
    const bool fields = HasFields();
    const char quote = text_[position_];
    const bool triple = text_.substr(position_, 3) == std::string_view(quote == '"' ? "\"\"\"" : "'''");
    position_ += triple ? 3 : 1;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '\\') {
        if (At(position_ + 1) == '\n') ++line_;
        position_ += fields && At(position_ + 1) == '{' ? 1 : 2;
      } else if (c == '{' && fields && At(position_ + 1) != '{') {
        if (!ScanField()) return Fail(), false;
      } else if (c == '{' && fields) {
        position_ += 2;
      } else if (c == quote && (!triple || EndsTriple(quote))) {
        position_ += triple ? 3 : 1;
        statement_.end = position_;
        return true;
      } else {
        if (c == '\n' && !triple) break;
        if (c == '\n') ++line_;
        ++position_;
      }
    }
    return Fail(), false;  // unterminated
  }

  // A replacement field. From Python 3.12 on it may have strings with the same quotes, which do not end the
  // string around it. False where that is in doubt: a string in a format, a string with fields of its own, a
  // line end.
  bool ScanField() {
    std::size_t depth = 0;
    bool format = false;
    do {
      const unsigned char c = At(position_);
      if (position_ >= text_.size() || c == '\n' || c == '\\' || c == '#') return false;
      if (c == '"' || c == '\'') {
        if (format || HasFields() || !ScanString()) return false;
        continue;
      }
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if (c == ':' && depth == 1) format = true;
      ++position_;
    } while (depth > 0);
    return true;
  }

  bool EndsTriple(char quote) const {
    return At(position_ + 1) == static_cast<unsigned char>(quote) &&
           At(position_ + 2) == static_cast<unsigned char>(quote);
  }

  bool ScanBracket() {
    std::size_t depth = 0;
    do {
      const unsigned char c = At(position_);
      if (position_ >= text_.size()) return Fail(), false;
      if (c == '"' || c == '\'') {
        if (!ScanString()) return false;
        continue;
      }
      if (c == '#') {
        SkipComment();
        continue;
      }
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if (c == '\n') ++line_;
      ++position_;
    } while (depth > 0);
    statement_.end = position_;
    return true;
  }

  void ScanOperator() {
    const unsigned char c = At(position_);
    const unsigned char next = At(position_ + 1);
    if (c == '=' || c == '!' || c == '<' || c == '>') {
      if (next == '=') {
        position_ += 2;  // a comparison
      } else if ((c == '<' || c == '>') && next == c) {
        position_ += 2;
        if (At(position_) == '=') statement_.assigns = true, ++position_;
      } else {
        if (c == '=') statement_.assigns = true;
        ++position_;
      }
      return;
    }
    if (c == ':') {
      next == '=' ? (statement_.doubtful = true) : (statement_.colon = true);
      position_ += next == '=' ? 2 : 1;
      return;
    }
    if (c == '@' && statement_.begin == position_) compound_ = true;  // a decorator
    if (c == '*' && statement_.begin == position_) statement_.doubtful = true;
    if (c == '$' || c == '?' || c == '`' || c < ' ') Fail();
    ++position_;
    if (next == c && (c == '*' || c == '/')) ++position_;
    if (At(position_) == '=' && At(position_ + 1) != '=') statement_.assigns = true, ++position_;
  }

  void EndStatement() {
    if (statement_.empty) return;
    const bool first = !any_;
    any_ = true;
    last_ = {};
    last_.kind = KindOfStatement();
    last_.begin = statement_.begin;
    last_.end = statement_.end;
    last_.line = statement_.line;
    last_.column = statement_.column;
    last_.alone = first;
    last_.one_line = logical_lines_ == 1;
  }

  Kind KindOfStatement() const {
    if (indented_) return Kind::kOther;  // the end of a compound statement
    if (compound_) {
      // match and case are words like any other unless a block follows: then the last line is indented.
      const bool soft = statement_.first_word == "match" || statement_.first_word == "case";
      return soft ? Kind::kUnsure : Kind::kOther;
    }
    if (IsOneOf(kSimple, statement_.first_word)) return Kind::kOther;
    if (statement_.doubtful) return Kind::kUnsure;
    return statement_.assigns || statement_.colon ? Kind::kOther : Kind::kExpression;
  }

  void Fail() { failed_ = true; }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_ = 0;
  std::size_t line_begin_ = 0;
  std::size_t logical_lines_ = 0;
  bool indented_ = false;
  bool compound_ =
      false;  // the logical line is the head of a compound statement, with what follows on the same line
  bool failed_ = false;
  bool any_ = false;
  Statement statement_;
  LastStatement last_{.kind = Kind::kOther};
};

}  // namespace

LastStatement FindLastStatement(std::string_view text) { return Scanner(text).Run(); }

}  // namespace gloveport::child
