// A JSON reader that remembers where everything stood, so that an error in a policy can name line and column.
//
// It reads RFC 8259 JSON plus comments (// to the end of the line, /* ... */) and a byte order mark. Trailing
// commas, duplicate keys, lone surrogates and invalid UTF-8 are errors. Pure; total on every input.
#ifndef GLOVEPORT_POLICY_JSON_READER_H_
#define GLOVEPORT_POLICY_JSON_READER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport {

struct JsonPosition {
  int line = 1;    // 1-based
  int column = 1;  // 1-based, in characters
  friend bool operator==(const JsonPosition&, const JsonPosition&) = default;
};

struct JsonMember;

struct JsonNode {
  enum class Kind { kNull, kBool, kNumber, kText, kArray, kObject };

  Kind kind = Kind::kNull;
  JsonPosition at;
  bool boolean = false;             // kBool
  double number = 0;                // kNumber; always finite
  std::string text;                 // kText: the text, unescaped; kNumber: the digits as they were written
  std::vector<JsonNode> items;      // kArray
  std::vector<JsonMember> members;  // kObject, in order

  bool is_integer() const;  // a number written without fraction and exponent
  const JsonNode* Find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  JsonPosition at;  // of the key
  JsonNode value;
};

// "an object", "a string", ...: for messages.
std::string_view JsonKindName(JsonNode::Kind kind);

inline constexpr std::size_t kMaxPolicyBytes = 1u << 20;
inline constexpr int kMaxPolicyDepth = 64;

// Reads one JSON document. kInvalidArgument with "origin:line:column: ..." for text that is none;
// kResourceExhausted beyond kMaxPolicyBytes.
Result<JsonNode> ReadJson(std::string_view text, std::string_view origin);

// "origin:3:7: message", code kInvalidArgument.
tl::unexpected<Error> JsonFault(std::string_view origin, JsonPosition at, std::string_view message,
                                std::string hint = "");

// `text` as a JSON string, quotes included.
std::string QuoteJson(std::string_view text);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_JSON_READER_H_
