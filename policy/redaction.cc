#include "gloveport/policy/redaction.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "gloveport/policy/constraint.h"

namespace gloveport {
namespace {

constexpr std::int64_t kMaxPatternMemory = 8 << 20;
constexpr std::int64_t kMaxSetMemory = 64 << 20;

// Written for few false finds: each has a prefix that hardly occurs otherwise, or a name that says "secret".
// A group, where there is one, is the secret; what stands around it stays readable.
const std::vector<RedactionPattern>& BuiltIn() {
  static const auto& patterns = *new std::vector<RedactionPattern>{
      {"private-key",
       R"(-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?)"},
      {"aws-access-key", R"(\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b)"},
      {"aws-secret-key",
       R"((?i:aws.{0,20}?(?:secret|session|token).{0,30}?)["' :=]{1,6}([A-Za-z0-9/+]{40}={0,2}))"},
      {"anthropic-key", R"(\bsk-ant-[A-Za-z0-9_-]{16,})"},
      {"openai-key", R"(\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,})"},
      {"github-token", R"(\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}))"},
      {"gitlab-token", R"(\bglpat-[A-Za-z0-9_-]{20,})"},
      {"slack-token", R"(\bxox[abeoprs]-[A-Za-z0-9-]{10,})"},
      {"slack-webhook", R"(https://hooks\.slack\.com/services/(T[A-Za-z0-9_]+/B[A-Za-z0-9_]+/[A-Za-z0-9]+))"},
      {"google-api-key", R"(\bAIza[A-Za-z0-9_-]{35})"},
      {"google-oauth-token", R"(\bya29\.[A-Za-z0-9_-]{20,})"},
      {"stripe-key", R"(\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,})"},
      {"npm-token", R"(\bnpm_[A-Za-z0-9]{36}\b)"},
      {"pypi-token", R"(\bpypi-[A-Za-z0-9_-]{50,})"},
      {"huggingface-token", R"(\bhf_[A-Za-z0-9]{30,}\b)"},
      {"sendgrid-key", R"(\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})"},
      {"jwt", R"(\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"},
      {"bearer-token", R"((?i:\bbearer\s{1,4})([A-Za-z0-9._~+/-]{16,}=*))"},
      {"basic-credentials",
       R"((?i:\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?basic\s{1,4})([A-Za-z0-9+/]{8,}={0,2}))"},
      {"url-password", R"(\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@"'<>]{0,100}:([^\s/@"'<>]{1,200})@)"},
      {"secret-value",
       R"((?i:\b[a-z0-9_.-]{0,40}(?:api[_-]?key|secret[_-]?key|client[_-]?secret|access[_-]?token|auth[_-]?token|refresh[_-]?token|password|passwd))["']?\s{0,4}(?:=|:)\s{0,4}["']([^"'\s]{6,200})["'])"},
  };
  return patterns;
}

re2::RE2::Options Options(std::int64_t memory) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(memory);
  return options;
}

// Whether this is what Apply puts in place of a secret: applied twice, it stays.
bool IsMark(re2::StringPiece text) { return text.starts_with("[redacted:") && text.ends_with("]"); }

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view name;
};

}  // namespace

struct Redactor::Patterns {
  struct Pattern {
    std::string name;
    std::unique_ptr<const re2::RE2> compiled;
  };
  std::vector<Pattern> all;
  std::unique_ptr<re2::RE2::Set> set;  // which patterns are worth a look, in one pass

  // Indexes of the patterns that may be in the text.
  std::vector<int> Candidates(re2::StringPiece text) const {
    std::vector<int> found;
    re2::RE2::Set::ErrorInfo info{};
    if (set->Match(text, &found, &info) || info.kind == re2::RE2::Set::kNoError) return found;
    found.clear();  // out of memory: look for each by itself
    for (std::size_t i = 0; i < all.size(); ++i) found.push_back(static_cast<int>(i));
    return found;
  }

  void Find(const Pattern& pattern, re2::StringPiece text, std::vector<Span>& spans) const {
    const int groups = std::min(1, pattern.compiled->NumberOfCapturingGroups());
    std::size_t at = 0;
    re2::StringPiece match[2];
    while (at < text.size() &&
           pattern.compiled->Match(text, at, text.size(), re2::RE2::UNANCHORED, match, groups + 1)) {
      const re2::StringPiece& whole = match[0];
      const bool in_group = groups == 1 && match[1].data() != nullptr && !match[1].empty();
      const re2::StringPiece& secret = in_group ? match[1] : whole;
      const auto begin = static_cast<std::size_t>(secret.data() - text.data());
      if (!secret.empty() && !IsMark(secret)) spans.push_back({begin, begin + secret.size(), pattern.name});
      const auto end = static_cast<std::size_t>(whole.data() - text.data()) + whole.size();
      at = std::max(end, at + 1);
    }
  }

  std::vector<Span> FindAll(std::string_view text) const {
    std::vector<Span> spans;
    const re2::StringPiece piece(text.data(), text.size());
    for (const int index : Candidates(piece)) Find(all[static_cast<std::size_t>(index)], piece, spans);
    std::stable_sort(spans.begin(), spans.end(),
                     [](const Span& a, const Span& b) { return a.begin < b.begin; });
    return spans;
  }
};

Redactor::Redactor() : patterns_(std::make_shared<Patterns>()) {}
Redactor::Redactor(std::shared_ptr<const Patterns> patterns) : patterns_(std::move(patterns)) {}

Result<Redactor> Redactor::Compile(const Policy& policy) {
  auto patterns = std::make_shared<Patterns>();
  std::vector<RedactionPattern> wanted = policy.redact;
  if (policy.redact_secrets) wanted.insert(wanted.end(), BuiltIn().begin(), BuiltIn().end());
  if (wanted.empty()) return Redactor();
  patterns->set = std::make_unique<re2::RE2::Set>(Options(kMaxSetMemory), re2::RE2::UNANCHORED);
  for (const RedactionPattern& redaction : wanted) {
    RETURN_IF_ERROR(CheckRedactionPattern(redaction.pattern));
    patterns->all.push_back(
        {redaction.name, std::make_unique<const re2::RE2>(redaction.pattern, Options(kMaxPatternMemory))});
    patterns->set->Add(redaction.pattern, nullptr);
  }
  if (!patterns->set->Compile()) {
    return Fail(ErrorCode::kResourceExhausted, "the patterns of \"redact\" need too much memory together",
                "use fewer or simpler patterns");
  }
  return Redactor(std::move(patterns));
}

std::string Redactor::Apply(std::string_view text) const {
  std::string out;
  std::size_t done = 0;
  if (empty()) return std::string(text);
  const std::vector<Span> spans = patterns_->FindAll(text);
  for (std::size_t i = 0; i < spans.size();) {
    std::size_t end = spans[i].end;
    std::size_t next = i + 1;
    for (; next < spans.size() && spans[next].begin < end; ++next) end = std::max(end, spans[next].end);
    out += text.substr(done, spans[i].begin - done);
    out += fmt::format("[redacted:{}]", spans[i].name);
    done = end;
    i = next;
  }
  out += text.substr(done);
  return out;
}

bool Redactor::Finds(std::string_view text) const { return !empty() && !patterns_->FindAll(text).empty(); }

bool Redactor::empty() const { return patterns_->all.empty(); }

std::span<const RedactionPattern> BuiltInRedactions() { return BuiltIn(); }

bool IsRedactionName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

Status CheckRedactionPattern(std::string_view pattern) {
  RETURN_IF_ERROR(CheckPattern(pattern));
  const re2::RE2 compiled(re2::StringPiece(pattern.data(), pattern.size()), Options(kMaxPatternMemory));
  if (!compiled.ok())
    return Fail(ErrorCode::kInvalidArgument, fmt::format("not a pattern: {}", compiled.error()));
  if (!re2::RE2::PartialMatch("", compiled)) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "this pattern matches the empty text, so it would be found everywhere",
              "demand at least one character, for example with + in place of *");
}

}  // namespace gloveport
