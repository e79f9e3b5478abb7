#include "gloveport/core/net/http_message.h"

#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsTokenCharacter(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7F;
}

}  // namespace

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

const std::string* FindHeader(const HttpHeaders& headers, std::string_view name) {
  for (const HttpHeader& header : headers) {
    if (EqualsIgnoringCase(header.name, name)) return &header.value;
  }
  return nullptr;
}

bool IsHttpToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenCharacter);
}

Status CheckHeader(const HttpHeader& header) {
  if (!IsHttpToken(header.name)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("\"{}\" is no name of an HTTP header field", EscapeForTerminal(header.name)));
  }
  if (std::any_of(header.value.begin(), header.value.end(), IsControl)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the value of the HTTP header field {} has a control character", header.name),
                "remove line breaks and other control characters from the value");
  }
  return {};
}

}  // namespace gloveport
