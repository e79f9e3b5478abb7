#include "gloveport/core/agent/output_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

constexpr std::size_t kMostDepth = 200;
constexpr std::size_t kMostFindings = 20;
constexpr std::size_t kLeastVerbatim = 16;
constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15;  // odd, so that no byte of a window is lost

// The hash of a window of fixed length that moves byte by byte.
class RollingHash {
 public:
  explicit RollingHash(std::string_view window) {
    for (const char c : window) {
      hash_ = hash_ * kBase + static_cast<unsigned char>(c);
      leaving_ *= kBase;
    }
  }
  void Move(char leaves, char enters) {
    hash_ =
        hash_ * kBase + static_cast<unsigned char>(enters) - leaving_ * static_cast<unsigned char>(leaves);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
  std::uint64_t leaving_ = 1;  // kBase to the power of the length
};

std::string PointerPart(const Value& key) {
  std::string part;
  for (const char c : key.is_text() ? key.as_text() : DumpJson(key)) {
    part += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return part;
}

Result<Redactor> CompilePatterns(const std::vector<RedactionPattern>& patterns) {
  Policy policy;
  policy.redact = patterns;
  policy.redact_secrets = false;
  return Redactor::Compile(policy);
}

}  // namespace

OutputCheck::OutputCheck(OutputRules rules, Redactor secrets, Redactor patterns)
    : rules_(std::move(rules)), secrets_(std::move(secrets)), patterns_(std::move(patterns)) {}

Result<OutputCheck> OutputCheck::Compile(const OutputRules& rules, const Policy& policy) {
  if (rules.max_verbatim_bytes != 0 && rules.max_verbatim_bytes < kLeastVerbatim) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("max_verbatim_bytes is {}: shorter than {} bytes, any text would be a copy",
                            rules.max_verbatim_bytes, kLeastVerbatim),
                "0 allows any passage");
  }
  Redactor secrets;
  if (rules.refuse_secrets) {
    ASSIGN_OR_RETURN(secrets, Redactor::Compile(policy));
  }
  ASSIGN_OR_RETURN(Redactor patterns, CompilePatterns(rules.patterns));
  return OutputCheck(rules, std::move(secrets), std::move(patterns));
}

// A passage that is longer than allowed holds a whole block of half that length, wherever it begins: blocks
// that lie side by side are enough.
void OutputCheck::Protect(std::string name, std::string text) {
  if (rules_.max_verbatim_bytes == 0) return;
  const std::size_t size = rules_.max_verbatim_bytes / 2;
  for (std::size_t at = 0; at + size <= text.size(); at += size) {
    blocks_.emplace(RollingHash(std::string_view(text).substr(at, size)).value(),
                    Block{protected_.size(), at});
  }
  protected_.push_back({std::move(name), std::move(text)});
}

bool OutputCheck::IsCopied(std::string_view text, std::size_t at, const Block& block) const {
  const std::string_view source = protected_[block.text].text;
  std::size_t before = 0;
  while (before < at && before < block.offset && text[at - before - 1] == source[block.offset - before - 1])
    ++before;
  std::size_t length = 0;
  while (at + length < text.size() && block.offset + length < source.size() &&
         text[at + length] == source[block.offset + length]) {
    ++length;
  }
  return before + length > rules_.max_verbatim_bytes;
}

const OutputCheck::Protected* OutputCheck::CopiedFrom(std::string_view text) const {
  const std::size_t size = rules_.max_verbatim_bytes / 2;
  if (size == 0 || text.size() <= rules_.max_verbatim_bytes) return nullptr;
  RollingHash hash(text.substr(0, size));
  for (std::size_t at = 0;; ++at) {
    const auto [begin, end] = blocks_.equal_range(hash.value());
    for (auto it = begin; it != end; ++it) {
      if (IsCopied(text, at, it->second)) return &protected_[it->second.text];
    }
    if (at + size >= text.size()) return nullptr;
    hash.Move(text[at], text[at + size]);
  }
}

std::vector<SchemaError> OutputCheck::CheckText(std::string_view place, std::string_view text) const {
  std::vector<SchemaError> found;
  const std::string path(place);
  if (secrets_.Finds(text))
    found.push_back({path, "it holds what looks like a secret, which must not leave the run; leave it out"});
  if (patterns_.Finds(text)) {
    // The replacement names the pattern.
    const std::string shown = patterns_.Apply(text);
    const auto begin = shown.find("[redacted:");
    const auto end = shown.find(']', begin);
    const std::string name = end == std::string::npos ? "" : " " + shown.substr(begin + 10, end - begin - 10);
    found.push_back({path, "it holds what the output rule" + name + " forbids; leave it out"});
  }
  if (const Protected* source = CopiedFrom(text)) {
    found.push_back({path, fmt::format("it repeats more than {} bytes of {} word for word; sum up instead",
                                       rules_.max_verbatim_bytes, source->name)});
  }
  return found;
}

void OutputCheck::CheckValue(const std::string& path, const Value& value, std::size_t depth,
                             std::vector<SchemaError>& found) const {
  if (found.size() >= kMostFindings || depth > kMostDepth) return;
  const auto add = [&](std::vector<SchemaError> more) {
    found.insert(found.end(), more.begin(), more.end());
  };
  if (value.is_text()) {
    add(CheckText(path, value.as_text()));
  } else if (value.is_bytes()) {
    const auto& bytes = value.as_bytes();
    add(CheckText(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  } else if (value.is_list()) {
    for (std::size_t i = 0; i < value.as_list().size(); ++i)
      CheckValue(fmt::format("{}/{}", path, i), value.as_list()[i], depth + 1, found);
  } else if (value.is_map()) {
    for (const auto& [key, item] : value.as_map()) {
      const std::string inner = path + "/" + PointerPart(key);
      CheckValue(inner, key, depth + 1, found);
      CheckValue(inner, item, depth + 1, found);
    }
  } else if (value.is_extended()) {
    CheckValue(path, value.payload(), depth + 1, found);
  }
}

std::vector<SchemaError> OutputCheck::CheckAnswer(const Value& value, std::string_view explanation) const {
  std::vector<SchemaError> found;
  const std::size_t bytes = DumpJson(value).size();
  if (bytes > rules_.max_answer_bytes) {
    found.push_back(
        {"", fmt::format("it has {} bytes as JSON, {} are allowed; give less: sums, heads, counts", bytes,
                         rules_.max_answer_bytes)});
  }
  CheckValue("", value, 0, found);
  for (SchemaError& error : CheckText("(explanation)", explanation)) found.push_back(std::move(error));
  return found;
}

std::vector<SchemaError> OutputCheck::CheckDisplay(std::string_view place, const Value& bundle) const {
  std::vector<SchemaError> found;
  if (!bundle.is_map()) return found;
  for (const auto& [type, data] : bundle.as_map()) {
    if (!type.is_text() || !data.is_text()) continue;
    for (SchemaError& error : CheckText(fmt::format("{} ({})", place, type.as_text()), data.as_text()))
      found.push_back(std::move(error));
  }
  return found;
}

}  // namespace gloveport
