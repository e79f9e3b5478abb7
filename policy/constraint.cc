#include "gloveport/policy/constraint.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "gloveport/policy/json_reader.h"
#include "gloveport/policy/lexical_path.h"
#include "gloveport/policy/url_host.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxPatternBytes = 4096;
constexpr std::int64_t kMaxPatternMemory = 4 << 20;

Result<std::shared_ptr<const re2::RE2>> CompilePattern(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the pattern has more than {} bytes", kMaxPatternBytes));
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxPatternMemory);
  auto compiled = std::make_shared<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok()) {
    return Fail(
        ErrorCode::kInvalidArgument, fmt::format("not a pattern: {}", compiled->error()),
        "patterns are RE2's: no look-around and no back-references; a backslash in JSON is written \\\\");
  }
  return compiled;
}

Judgement Of(bool holds) { return holds ? Judgement::kHolds : Judgement::kFails; }

// The weaker of two demands that must both hold.
Judgement Both(Judgement a, Judgement b) {
  if (a == Judgement::kFails || b == Judgement::kFails) return Judgement::kFails;
  return a == Judgement::kHolds ? b : a;
}

// The argument as `one_of` writes it; nothing for what has no scalar JSON form.
std::optional<std::string> CanonicalText(const PolicyArgument& argument) {
  if (std::holds_alternative<std::monostate>(argument.value)) return "null";
  if (const auto* flag = std::get_if<bool>(&argument.value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&argument.value)) return std::to_string(*whole);
  if (const auto* text = std::get_if<std::string>(&argument.value)) return QuoteJson(*text);
  const auto* number = std::get_if<double>(&argument.value);
  if (number != nullptr && std::isfinite(*number)) return CanonicalNumber(*number);
  return std::nullopt;
}

}  // namespace

std::string CanonicalNumber(double number) {
  if (number == std::floor(number) && std::fabs(number) < 9007199254740992.0) {
    return std::to_string(static_cast<std::int64_t>(number));
  }
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, number);
  return std::string(text, written.ptr);
}

Status CheckPattern(std::string_view pattern) {
  RETURN_IF_ERROR(CompilePattern(pattern));
  return {};
}

Result<Constraint> Constraint::Compile(const ArgumentConstraint& constraint) {
  Constraint compiled;
  compiled.constraint_ = constraint;
  if (constraint.matches) {
    ASSIGN_OR_RETURN(compiled.pattern_, CompilePattern(*constraint.matches));
  }
  if (constraint.path_prefix) {
    auto prefix = NormalPath(*constraint.path_prefix);
    if (!prefix) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} is no path to begin with", QuoteJson(*constraint.path_prefix)));
    }
    compiled.constraint_.path_prefix = std::move(prefix);
  }
  if (constraint.hosts) {
    for (std::string& host : *compiled.constraint_.hosts) {
      auto normal = NormalHostPattern(host);
      if (!normal) {
        return Fail(ErrorCode::kInvalidArgument, fmt::format("{} is no host name", QuoteJson(host)),
                    "write a host such as \"example.org\", or \"*.example.org\" for all below it");
      }
      host = std::move(*normal);
    }
  }
  return compiled;
}

Judgement Constraint::Judge(const PolicyArgument& argument) const {
  const auto* list = std::get_if<PolicyArgument::List>(&argument.value);
  if (list == nullptr) return JudgeItem(argument);
  std::size_t holding = 0;
  std::size_t failing = 0;
  for (const PolicyArgument& item : *list) {
    const Judgement judgement = Judge(item);
    if (judgement == Judgement::kHolds) ++holding;
    if (judgement == Judgement::kFails) ++failing;
  }
  if (failing == list->size()) return Judgement::kFails;
  return holding == list->size() ? Judgement::kHolds : Judgement::kUnknown;
}

Judgement Constraint::JudgeItem(const PolicyArgument& argument) const {
  Judgement result = Judgement::kHolds;
  if (constraint_.one_of) result = Both(result, JudgeOneOf(argument));
  if (constraint_.minimum || constraint_.maximum) result = Both(result, JudgeRange(argument));
  if (pattern_ || constraint_.path_prefix || constraint_.hosts) {
    const auto* text = std::get_if<std::string>(&argument.value);
    const bool none = std::holds_alternative<std::monostate>(argument.value);
    result = Both(result, text ? JudgeText(*text) : none ? Judgement::kFails : Judgement::kUnknown);
  }
  return result;
}

Judgement Constraint::JudgeOneOf(const PolicyArgument& argument) const {
  const auto text = CanonicalText(argument);
  if (!text) return Judgement::kUnknown;
  return Of(std::find(constraint_.one_of->begin(), constraint_.one_of->end(), *text) !=
            constraint_.one_of->end());
}

Judgement Constraint::JudgeRange(const PolicyArgument& argument) const {
  if (std::holds_alternative<std::monostate>(argument.value)) return Judgement::kFails;
  double number = 0;
  if (const auto* whole = std::get_if<std::int64_t>(&argument.value)) {
    number = static_cast<double>(*whole);
  } else if (const auto* real = std::get_if<double>(&argument.value)) {
    number = *real;
  } else {
    return Judgement::kUnknown;
  }
  if (std::isnan(number)) return Judgement::kUnknown;
  return Of((!constraint_.minimum || number >= *constraint_.minimum) &&
            (!constraint_.maximum || number <= *constraint_.maximum));
}

Judgement Constraint::JudgeText(const std::string& text) const {
  Judgement result = Judgement::kHolds;
  if (pattern_) result = Of(re2::RE2::PartialMatch(text, *pattern_));
  if (constraint_.path_prefix) result = Both(result, JudgePath(text));
  if (constraint_.hosts) {
    const auto host = UrlHost(text);
    if (!host) return Both(result, Judgement::kUnknown);
    result = Both(
        result, Of(std::any_of(constraint_.hosts->begin(), constraint_.hosts->end(),
                               [&host](const std::string& pattern) { return HostMatches(*host, pattern); })));
  }
  return result;
}

Judgement Constraint::JudgePath(std::string_view path) const {
  const auto normal = NormalPath(path);
  const std::string& prefix = *constraint_.path_prefix;
  // Only the tool knows what a relative path is relative to.
  if (!normal || path.front() == '~' || normal->starts_with('/') != prefix.starts_with('/')) {
    return Judgement::kUnknown;
  }
  return Of(IsAtOrBelow(*normal, prefix));
}

}  // namespace gloveport
