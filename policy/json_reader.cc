#include "gloveport/policy/json_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendUtf8(std::uint32_t code_point, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

class JsonParser {
 public:
  JsonParser(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  Result<JsonNode> Document() {
    RETURN_IF_ERROR(CheckUtf8());
    ASSIGN_OR_RETURN(JsonNode node, Next(0));
    RETURN_IF_ERROR(SkipBlank());
    if (!AtEnd()) return Fault(at_, fmt::format("{} after the end of the document", Seen()));
    return node;
  }

 private:
  bool AtEnd() const { return position_ == text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[position_]; }
  bool LookingAt(std::string_view token) const { return text_.substr(position_).starts_with(token); }

  void Advance(std::size_t bytes = 1) {
    for (; bytes > 0; --bytes) {
      const auto byte = static_cast<unsigned char>(text_[position_++]);
      if (byte == '\n') {
        ++at_.line;
        at_.column = 1;
      } else if ((byte & 0xC0) != 0x80) {  // continuation bytes are no characters of their own
        ++at_.column;
      }
    }
  }

  tl::unexpected<Error> Fault(JsonPosition at, std::string_view message, std::string hint = "") const {
    return JsonFault(origin_, at, message, std::move(hint));
  }

  // What stands here, for messages.
  std::string Seen() const {
    if (AtEnd()) return "end of the text";
    const auto byte = static_cast<unsigned char>(Peek());
    if (byte < 0x20 || byte == 0x7F) return fmt::format("control character 0x{:02x}", byte);
    const std::size_t bytes = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return fmt::format("'{}'", text_.substr(position_, bytes));
  }

  Status CheckUtf8() {
    if (IsValidUtf8(text_)) return {};
    while (!AtEnd()) {  // the slow walk, only to say where
      const auto byte = static_cast<unsigned char>(Peek());
      const std::size_t bytes = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
      if (!IsValidUtf8(text_.substr(position_, bytes))) break;
      Advance(bytes);
    }
    return Fault(at_, "the text is not valid UTF-8", "save the file as UTF-8");
  }

  Status SkipBlank() {
    while (!AtEnd()) {
      const char c = Peek();
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        Advance();
      } else if (LookingAt("//")) {
        while (!AtEnd() && Peek() != '\n') Advance();
      } else if (LookingAt("/*")) {
        const JsonPosition start = at_;
        const std::size_t end = text_.find("*/", position_ + 2);
        if (end == std::string_view::npos) return Fault(start, "this comment has no end", "close it with */");
        Advance(end + 2 - position_);
      } else {
        break;
      }
    }
    return {};
  }

  Result<JsonNode> Next(int depth) {
    RETURN_IF_ERROR(SkipBlank());
    JsonNode node;
    node.at = at_;
    const char c = Peek();
    if (c == '{' || c == '[') {
      if (depth >= kMaxPolicyDepth)
        return Fault(at_, fmt::format("nested deeper than {} levels", kMaxPolicyDepth));
      RETURN_IF_ERROR(c == '{' ? ObjectInto(node, depth) : ArrayInto(node, depth));
    } else if (c == '"') {
      node.kind = JsonNode::Kind::kText;
      ASSIGN_OR_RETURN(node.text, String());
    } else if (c == '-' || IsDigit(c)) {
      RETURN_IF_ERROR(NumberInto(node));
    } else {
      RETURN_IF_ERROR(WordInto(node));
    }
    return node;
  }

  Status WordInto(JsonNode& node) {
    std::size_t end = position_;
    while (end < text_.size() && ((text_[end] | 0x20) >= 'a' && (text_[end] | 0x20) <= 'z')) ++end;
    const std::string_view word = text_.substr(position_, end - position_);
    if (word == "true" || word == "false") {
      node.kind = JsonNode::Kind::kBool;
      node.boolean = word == "true";
    } else if (word != "null") {
      const std::string seen = word.empty() ? Seen() : fmt::format("'{}'", word);
      return Fault(at_, fmt::format("expected a value, found {}", seen),
                   "a value is a string in double quotes, a number, true, false, null, [...] or {...}");
    }
    Advance(word.size());
    return {};
  }

  std::size_t SkipDigits(std::size_t at) const {
    while (at < text_.size() && IsDigit(text_[at])) ++at;
    return at;
  }

  // The end of the number that begins here; nothing where it breaks the grammar.
  std::optional<std::size_t> NumberEnd() const {
    std::size_t at = position_ + (Peek() == '-' ? 1 : 0);
    const std::size_t integer_end = SkipDigits(at);
    if (integer_end == at || (text_[at] == '0' && integer_end > at + 1)) return std::nullopt;
    at = integer_end;
    if (at < text_.size() && text_[at] == '.') {
      const std::size_t end = SkipDigits(at + 1);
      if (end == at + 1) return std::nullopt;
      at = end;
    }
    if (at < text_.size() && (text_[at] | 0x20) == 'e') {
      ++at;
      if (at < text_.size() && (text_[at] == '+' || text_[at] == '-')) ++at;
      const std::size_t end = SkipDigits(at);
      if (end == at) return std::nullopt;
      at = end;
    }
    return at;
  }

  Status NumberInto(JsonNode& node) {
    const auto end = NumberEnd();
    if (!end)
      return Fault(at_, "this is not a JSON number", "write it like 30, -1 or 0.25, without leading zeros");
    node.kind = JsonNode::Kind::kNumber;
    node.text = text_.substr(position_, *end - position_);
    const auto parsed = std::from_chars(node.text.data(), node.text.data() + node.text.size(), node.number);
    if (parsed.ec != std::errc()) return Fault(at_, "this number is out of range");
    Advance(node.text.size());
    return {};
  }

  Status ArrayInto(JsonNode& node, int depth) {
    node.kind = JsonNode::Kind::kArray;
    Advance();
    RETURN_IF_ERROR(SkipBlank());
    if (Peek() == ']') {
      Advance();
      return {};
    }
    for (;;) {
      ASSIGN_OR_RETURN(JsonNode item, Next(depth + 1));
      node.items.push_back(std::move(item));
      ASSIGN_OR_RETURN(const bool more, Separator(']', node.at));
      if (!more) return {};
    }
  }

  Status ObjectInto(JsonNode& node, int depth) {
    node.kind = JsonNode::Kind::kObject;
    Advance();
    RETURN_IF_ERROR(SkipBlank());
    if (Peek() == '}') {
      Advance();
      return {};
    }
    for (;;) {
      RETURN_IF_ERROR(MemberInto(node, depth));
      ASSIGN_OR_RETURN(const bool more, Separator('}', node.at));
      if (!more) return {};
    }
  }

  Status MemberInto(JsonNode& node, int depth) {
    RETURN_IF_ERROR(SkipBlank());
    JsonMember member;
    member.at = at_;
    if (Peek() != '"') {
      return Fault(at_, fmt::format("expected a key, found {}", Seen()), "keys stand in double quotes");
    }
    ASSIGN_OR_RETURN(member.key, String());
    if (node.Find(member.key) != nullptr) {
      return Fault(member.at, fmt::format("key {} is there twice", QuoteJson(member.key)),
                   "keep one of them");
    }
    RETURN_IF_ERROR(SkipBlank());
    if (Peek() != ':') return Fault(at_, fmt::format("expected ':' after the key, found {}", Seen()));
    Advance();
    ASSIGN_OR_RETURN(member.value, Next(depth + 1));
    node.members.push_back(std::move(member));
    return {};
  }

  // Takes a comma (true) or the closing bracket (false).
  Result<bool> Separator(char close, JsonPosition opened) {
    RETURN_IF_ERROR(SkipBlank());
    const JsonPosition comma = at_;
    if (Peek() == close) {
      Advance();
      return false;
    }
    if (AtEnd())
      return Fault(opened, fmt::format("the bracket opened here is never closed with '{}'", close));
    if (Peek() != ',') return Fault(at_, fmt::format("expected ',' or '{}', found {}", close, Seen()));
    Advance();
    RETURN_IF_ERROR(SkipBlank());
    if (Peek() == close) return Fault(comma, fmt::format("a comma before '{}'", close), "remove the comma");
    return true;
  }

  Result<std::string> String() {
    const JsonPosition start = at_;
    std::string out;
    Advance();
    while (!AtEnd() && Peek() != '"') {
      if (static_cast<unsigned char>(Peek()) < 0x20) {
        if (Peek() == '\n') return Fault(start, "this string does not end on its line", "close it with \"");
        return Fault(at_, fmt::format("{} in a string", Seen()),
                     "write it as an escape such as \\n or \\u0001");
      }
      if (Peek() == '\\') {
        RETURN_IF_ERROR(EscapeInto(out));
      } else {
        out.push_back(Peek());
        Advance();
      }
    }
    if (AtEnd()) return Fault(start, "this string has no end", "close it with \"");
    Advance();
    return out;
  }

  Status EscapeInto(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const JsonPosition start = at_;
    Advance();
    if (Peek() == 'u' && !AtEnd()) return UnicodeInto(start, out);
    const std::size_t which = AtEnd() ? std::string_view::npos : kNames.find(Peek());
    if (which == std::string_view::npos) {
      return Fault(
          start, fmt::format("unknown escape: \\ and then {}", Seen()),
          "a backslash itself is written \\\\; the other escapes are \\\" \\/ \\b \\f \\n \\r \\t \\uXXXX");
    }
    out.push_back(kMeanings[which]);
    Advance();
    return {};
  }

  std::optional<std::uint32_t> FourHexDigits() {
    std::uint32_t code = 0;
    if (text_.size() - position_ < 4) return std::nullopt;
    const char* begin = text_.data() + position_;
    const auto parsed = std::from_chars(begin, begin + 4, code, 16);
    if (parsed.ec != std::errc() || parsed.ptr != begin + 4) return std::nullopt;
    Advance(4);
    return code;
  }

  Status UnicodeInto(JsonPosition start, std::string& out) {
    Advance();
    auto code = FourHexDigits();
    if (!code) return Fault(start, "\\u needs four hexadecimal digits");
    if (*code >= 0xD800 && *code < 0xDC00 && LookingAt("\\u")) {
      Advance(2);
      const auto low = FourHexDigits();
      if (!low || *low < 0xDC00 || *low > 0xDFFF)
        return Fault(start, "this is only half of a surrogate pair");
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
    } else if (*code >= 0xD800 && *code <= 0xDFFF) {
      return Fault(start, "this is only half of a surrogate pair");
    }
    AppendUtf8(*code, out);
    return {};
  }

  std::string_view text_;
  std::string_view origin_;
  std::size_t position_ = 0;
  JsonPosition at_;
};

}  // namespace

bool JsonNode::is_integer() const {
  return kind == Kind::kNumber && text.find_first_of(".eE") == std::string::npos;
}

const JsonNode* JsonNode::Find(std::string_view key) const {
  for (const JsonMember& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string_view JsonKindName(JsonNode::Kind kind) {
  switch (kind) {
    case JsonNode::Kind::kNull:
      return "null";
    case JsonNode::Kind::kBool:
      return "true or false";
    case JsonNode::Kind::kNumber:
      return "a number";
    case JsonNode::Kind::kText:
      return "a string";
    case JsonNode::Kind::kArray:
      return "a list";
    case JsonNode::Kind::kObject:
      return "an object";
  }
  return "a value";
}

Result<JsonNode> ReadJson(std::string_view text, std::string_view origin) {
  if (text.size() > kMaxPolicyBytes) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("{}: {} bytes are more than the {} that a policy may have", origin, text.size(),
                            kMaxPolicyBytes));
  }
  return JsonParser(text, origin).Document();
}

tl::unexpected<Error> JsonFault(std::string_view origin, JsonPosition at, std::string_view message,
                                std::string hint) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("{}:{}:{}: {}", origin, at.line, at.column, message),
              std::move(hint));
}

std::string QuoteJson(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace gloveport
