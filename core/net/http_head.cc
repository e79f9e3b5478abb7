#include "gloveport/core/net/http_head.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace gloveport {
namespace {

tl::unexpected<Error> Malformed(std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("the head of the request is malformed: {}", what));
}

std::string_view WithoutBlanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Result<HttpHeader> ParseField(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return Malformed("a line without a colon");
  HttpHeader field{std::string(line.substr(0, colon)), std::string(WithoutBlanks(line.substr(colon + 1)))};
  RETURN_IF_ERROR(CheckHeader(field));
  return field;
}

// Two servers on the way could otherwise see two different bodies.
Status CheckLengths(const HttpHeaders& fields) {
  const auto count = [&](std::string_view name) {
    return std::count_if(fields.begin(), fields.end(),
                         [&](const HttpHeader& field) { return EqualsIgnoringCase(field.name, name); });
  };
  const auto lengths = count("content-length");
  const auto encodings = count("transfer-encoding");
  if (lengths + encodings > 1) return Malformed("more than one field says how long the body is");
  if (lengths == 0) return {};
  const std::string& length = *FindHeader(fields, "content-length");
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (length.empty() || length.size() > 18 || !std::all_of(length.begin(), length.end(), is_digit))
    return Malformed("Content-Length is no number");
  return {};
}

}  // namespace

std::size_t EndOfHttpHead(std::string_view received) {
  const auto end = received.find("\n\r\n");
  return end == std::string_view::npos ? end : end + 3;
}

Result<HttpHeaders> ParseHttpHead(std::string_view head) {
  HttpHeaders fields;
  bool request_line = true;
  while (true) {
    const auto end = head.find('\n');
    if (end == std::string_view::npos) return Malformed("it has no end");
    if (end == 0 || head[end - 1] != '\r') return Malformed("a line that does not end in CR LF");
    const std::string_view line = head.substr(0, end - 1);
    head.remove_prefix(end + 1);
    if (line.empty() && !request_line) break;
    if (!std::exchange(request_line, false)) {
      if (fields.size() == kMaxHttpFields)
        return Malformed(fmt::format("more than {} fields", kMaxHttpFields));
      ASSIGN_OR_RETURN(HttpHeader field, ParseField(line));
      fields.push_back(std::move(field));
    }
  }
  RETURN_IF_ERROR(CheckLengths(fields));
  return fields;
}

}  // namespace gloveport
