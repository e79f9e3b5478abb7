#include "gloveport/tools/python_literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr std::size_t kMostLiteral = 64u << 20;

// Writes until it is full, so that a message about a huge value costs little.
class LiteralWriter {
 public:
  explicit LiteralWriter(std::size_t max_bytes) : max_bytes_(std::min(max_bytes, kMostLiteral)) {}

  void Write(const Value& value) {
    if (full()) return;
    if (value.is_null()) {
      out_ += "None";
    } else if (value.is_bool()) {
      out_ += value.as_bool() ? "True" : "False";
    } else if (value.is_int()) {
      out_ += std::to_string(value.as_int());
    } else if (value.is_big_int()) {
      WriteBigInt(value.as_big_int());
    } else if (value.is_double()) {
      WriteDouble(value.as_double());
    } else if (value.is_text()) {
      WriteText(value.as_text());
    } else if (value.is_bytes()) {
      WriteBytes(value.as_bytes());
    } else if (value.is_list()) {
      WriteItems("[", value.as_list(), "]");
    } else if (value.is_map()) {
      WriteMap(value.as_map());
    } else {
      WriteExtended(value);
    }
  }

  bool full() const { return out_.size() > max_bytes_; }
  std::string Take() { return std::move(out_); }

 private:
  void WriteBigInt(const BigInt& number) {
    // The decimal digits of a huge number take long to find, and nobody reads them.
    if (max_bytes_ < number.magnitude.size()) {
      out_ += fmt::format("<int of {} bytes>", number.magnitude.size());
    } else {
      out_ += number.ToDecimal();
    }
  }

  // As repr(): the shortest digits that read back the same, an exponent outside 1e-4 .. 1e16.
  void WriteDouble(double number) {
    if (!std::isfinite(number)) {
      out_ += std::isnan(number) ? "float('nan')" : number > 0 ? "float('inf')" : "float('-inf')";
      return;
    }
    char text[64];
    const double size = std::fabs(number);
    const bool exponent = size != 0 && (size < 1e-4 || size >= 1e16);
    const auto format = exponent ? std::chars_format::scientific : std::chars_format::fixed;
    const auto written = std::to_chars(text, text + sizeof text, number, format);
    const std::string_view digits(text, static_cast<std::size_t>(written.ptr - text));
    out_ += digits;
    if (!exponent && digits.find('.') == std::string_view::npos) out_ += ".0";
  }

  void WriteText(std::string_view raw) {
    // Escaped for people too: no control character and no bidirectional mark comes through.
    const std::string text = ToValidUtf8(raw.substr(0, max_bytes_ + 1));
    const char quote =
        text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
    std::string quoted(1, quote);
    for (const char c : text) {
      if (c == quote || c == '\\') quoted += '\\';
      if (c == '\n')
        quoted += "\\n";
      else if (c == '\t')
        quoted += "\\t";
      else if (c == '\r')
        quoted += "\\r";
      else
        quoted += c;
    }
    out_ += EscapeForTerminal(quoted);
    out_ += quote;
  }

  void WriteBytes(const Value::Bytes& bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
      const char c = static_cast<char>(byte);
      if (c == '\'' || c == '\\')
        text += fmt::format("\\{}", c);
      else if (c >= 0x20 && c < 0x7F)
        text += c;
      else
        text += fmt::format("\\x{:02x}", static_cast<unsigned>(byte));
      if (text.size() > max_bytes_) break;
    }
    out_ += fmt::format("b'{}'", text);
  }

  void WriteItems(std::string_view open, const Value::List& items, std::string_view close) {
    out_ += open;
    for (std::size_t i = 0; i < items.size() && !full(); ++i) {
      if (i > 0) out_ += ", ";
      Write(items[i]);
    }
    out_ += close;
  }

  void WriteMap(const Value::Map& map) {
    out_ += '{';
    for (std::size_t i = 0; i < map.size() && !full(); ++i) {
      if (i > 0) out_ += ", ";
      Write(map[i].first);
      out_ += ": ";
      Write(map[i].second);
    }
    out_ += '}';
  }

  void WriteExtended(const Value& value) {
    const Value& payload = value.payload();
    const Form form = value.as_extended().form;
    if (payload.is_list() && form == Form::kTuple) {
      WriteItems("(", payload.as_list(), payload.as_list().size() == 1 ? ",)" : ")");
    } else if (payload.is_list() && form == Form::kSet) {
      if (payload.as_list().empty())
        out_ += "set()";
      else
        WriteItems("{", payload.as_list(), "}");
    } else if (payload.is_list() && form == Form::kFrozenset) {
      WriteItems("frozenset([", payload.as_list(), "])");
    } else if (payload.is_list() && form == Form::kRange) {
      WriteItems("range(", payload.as_list(), ")");
    } else if (payload.is_text() && (form == Form::kDecimal || form == Form::kFraction)) {
      out_ += form == Form::kDecimal ? "Decimal(" : "Fraction(";
      WriteText(payload.as_text());
      out_ += ')';
    } else {
      out_ += "...";
    }
  }

  std::size_t max_bytes_;
  std::string out_;
};

}  // namespace

std::string PythonLiteral(const Value& value) {
  LiteralWriter writer(kMostLiteral);
  writer.Write(value);
  return writer.Take();
}

std::string ShortLiteral(const Value& value, std::size_t max_bytes) {
  LiteralWriter writer(max_bytes);
  writer.Write(value);
  std::string text = writer.Take();
  if (text.size() <= max_bytes) return text;
  text.resize(max_bytes);
  while (!text.empty() && !IsValidUtf8(text)) text.pop_back();  // not in the middle of a character
  return text + "...";
}

std::string PythonArguments(const Value& arguments, std::size_t max_bytes) {
  std::string text;
  if (!arguments.is_map()) return text;
  for (const auto& [name, value] : arguments.as_map()) {
    if (!text.empty()) text += ", ";
    text += (name.is_text() ? name.as_text() : PythonLiteral(name)) + "=" + ShortLiteral(value, max_bytes);
  }
  return text;
}

}  // namespace gloveport
