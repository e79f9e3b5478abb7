#include "gloveport/policy/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gloveport/policy/suggest.h"

namespace gloveport {
namespace {

std::string Written(const JsonNode& node) {
  if (node.kind == JsonNode::Kind::kText) return QuoteJson(node.text.substr(0, 60));
  if (node.kind == JsonNode::Kind::kNumber) return node.text.substr(0, 60);
  if (node.kind == JsonNode::Kind::kBool) return node.boolean ? "true" : "false";
  return std::string(JsonKindName(node.kind));
}

}  // namespace

Status JsonFields::Keep(Status status) const {
  if (status || faults_ == nullptr) return status;
  faults_->push_back(std::move(status).error());
  return {};
}

Status JsonFields::Expect(const JsonNode& node, JsonNode::Kind kind, std::string_view what) const {
  if (node.kind == kind) return {};
  return Fault(node.at, fmt::format("{} must be {}, not {}", what, JsonKindName(kind), Written(node)));
}

Status JsonFields::Object(const JsonNode& node, std::string_view what,
                          const std::vector<Field>& fields) const {
  RETURN_IF_ERROR(Expect(node, JsonNode::Kind::kObject, what));
  for (const JsonMember& member : node.members) {
    const auto field = std::find_if(fields.begin(), fields.end(), [&member](const Field& candidate) {
      return candidate.key == member.key;
    });
    if (field == fields.end()) {
      std::vector<std::string_view> keys;
      for (const Field& candidate : fields) keys.push_back(candidate.key);
      RETURN_IF_ERROR(Keep(
          Fault(member.at, fmt::format("unknown key {} in {}", QuoteJson(member.key.substr(0, 60)), what),
                SuggestionFor(member.key, keys))));
      continue;
    }
    RETURN_IF_ERROR(Keep(field->handler(member.value)));
  }
  return {};
}

Status JsonFields::List(const JsonNode& node, std::string_view what, const Handler& handler) const {
  RETURN_IF_ERROR(Expect(node, JsonNode::Kind::kArray, what));
  for (const JsonNode& item : node.items) RETURN_IF_ERROR(Keep(handler(item)));
  return {};
}

Status JsonFields::Text(const JsonNode& node, std::string_view what, std::string& out) const {
  RETURN_IF_ERROR(Expect(node, JsonNode::Kind::kText, what));
  out = node.text;
  return {};
}

Status JsonFields::Number(const JsonNode& node, std::string_view what, double& out) const {
  RETURN_IF_ERROR(Expect(node, JsonNode::Kind::kNumber, what));
  out = node.number;
  return {};
}

Status JsonFields::Whole(const JsonNode& node, std::string_view what, std::uint64_t least, std::uint64_t most,
                         std::uint64_t& out) const {
  RETURN_IF_ERROR(Expect(node, JsonNode::Kind::kNumber, what));
  const bool fits = node.is_integer() && node.number >= static_cast<double>(least) &&
                    node.number <= static_cast<double>(most);
  if (!fits) {
    return Fault(node.at, fmt::format("{} must be a whole number from {} to {}, not {}", what, least, most,
                                      Written(node)));
  }
  out = static_cast<std::uint64_t>(node.number);
  return {};
}

Result<std::size_t> JsonFields::Word(const JsonNode& node, std::string_view what,
                                     std::span<const std::string_view> words) const {
  RETURN_IF_ERROR(Expect(node, JsonNode::Kind::kText, what));
  const auto found = std::find(words.begin(), words.end(), node.text);
  if (found == words.end()) {
    return Fault(node.at, fmt::format("{} cannot be {}", what, Written(node)),
                 SuggestionFor(node.text, words));
  }
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace gloveport
