#include "gloveport/core/model/code_stream.h"

#include <charconv>
#include <cstddef>
#include <utility>

namespace gloveport {
namespace {

constexpr std::size_t kMaxKeyBytes = 64;  // a longer one is none of ours
constexpr unsigned kReplacement = 0xFFFD;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsHigh(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLow(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

std::string Utf8(unsigned code_point) {
  const auto byte = [](unsigned value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  const auto tail = [&](int shift, unsigned value) { return byte(0x80 | ((value >> shift) & 0x3F)); };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xC0 | (code_point >> 6)), tail(0, code_point)};
  if (code_point < 0x10000) {
    return {byte(0xE0 | (code_point >> 12)), tail(6, code_point), tail(0, code_point)};
  }
  return {byte(0xF0 | (code_point >> 18)), tail(12, code_point), tail(6, code_point), tail(0, code_point)};
}

// What stands behind a backslash, but 'u'; 0 for what is no escape.
char Unescaped(char c) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const auto at = kNames.find(c);
  return at == std::string_view::npos ? '\0' : kMeanings[at];
}

}  // namespace

CodeStream::Pieces CodeStream::Take(std::string_view piece) {
  for (const char c : piece) Step(c);
  if (state_ == State::kText && high_ == 0) EndText();
  return std::exchange(pieces_, {});
}

void CodeStream::Step(char c) {
  if (state_ == State::kKey || state_ == State::kText) {
    StepText(c);
  } else if (state_ == State::kSkip) {
    StepSkip(c);
  } else {
    StepOutside(c);
  }
}

void CodeStream::StepOutside(char c) {
  if (state_ == State::kBefore) {
    if (c == '{') state_ = State::kBetween;
  } else if (IsSpace(c) || state_ == State::kEnd) {
    return;
  } else if (state_ == State::kBetween) {
    if (c == ',') return;
    out_.clear();
    state_ = c == '"' ? State::kKey : State::kEnd;
  } else if (state_ == State::kAfterKey) {
    state_ = c == ':' ? State::kValue : State::kEnd;
  } else if (c == '"' && (key_ == "thought" || key_ == "code")) {
    state_ = State::kText;
  } else {
    state_ = State::kSkip;
    depth_ = 0;
    quoted_ = escaped_ = false;
    StepSkip(c);
  }
}

void CodeStream::StepText(char c) {
  if (!escape_.empty() || c == '\\') {
    StepEscape(c);
  } else if (c != '"') {
    Put({&c, 1});
  } else if (state_ == State::kKey) {
    Put("");
    key_ = std::exchange(out_, {});
    state_ = State::kAfterKey;
  } else {
    Put("");
    EndText();
    state_ = State::kBetween;
  }
}

void CodeStream::StepEscape(char c) {
  escape_ += c;
  if (escape_.size() == 1 || (escape_[1] == 'u' && escape_.size() < 6)) return;
  const std::string escape = std::exchange(escape_, {});
  if (escape[1] != 'u') {
    const char meaning = Unescaped(escape[1]);
    if (meaning == '\0') {
      state_ = State::kEnd;
    } else {
      Put({&meaning, 1});
    }
    return;
  }
  unsigned unit = 0;
  const char* end = escape.data() + escape.size();
  const bool valid = std::from_chars(escape.data() + 2, end, unit, 16).ptr == end;
  if (valid) {
    PutUnit(unit);
  } else {
    state_ = State::kEnd;
  }
}

void CodeStream::StepSkip(char c) {
  if (quoted_) {
    if (!std::exchange(escaped_, false)) {
      escaped_ = c == '\\';
      quoted_ = c != '"';
    }
  } else if (c == '"') {
    quoted_ = true;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (depth_ > 0) {
    if (c == '}' || c == ']') --depth_;
  } else if (c == ',' || c == '}' || c == ']') {
    state_ = c == ',' ? State::kBetween : State::kEnd;
  }
}

void CodeStream::EndText() { (key_ == "code" ? pieces_.code : pieces_.thought) += std::exchange(out_, {}); }

// A high surrogate without its low one is no character.
void CodeStream::Put(std::string_view text) {
  if (std::exchange(high_, 0) != 0) out_ += Utf8(kReplacement);
  if (state_ == State::kKey && out_.size() + text.size() > kMaxKeyBytes) return;
  out_ += text;
}

void CodeStream::PutUnit(unsigned unit) {
  if (IsHigh(unit)) {
    Put("");
    high_ = unit;
  } else if (IsLow(unit) && high_ != 0) {
    const unsigned high = std::exchange(high_, 0);
    Put(Utf8(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00)));
  } else {
    Put(Utf8(IsLow(unit) ? kReplacement : unit));
  }
}

}  // namespace gloveport
