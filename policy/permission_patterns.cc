#include "gloveport/policy/permission_patterns.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "gloveport/policy/lexical_path.h"

namespace gloveport {
namespace {

// What no simple command has: with these a shell runs other commands too, or reads and writes files.
constexpr std::string_view kPlainText = R"([^;&|<>$`(){}\\\n\r!#])";

std::string Literal(std::string_view text) {
  static constexpr std::string_view kSpecial = R"(\.+*?()|[]{}^$)";
  std::string out;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

// `text` with each "*" replaced; the rest is literal.
std::string WithStars(std::string_view text, std::string_view star) {
  std::string out;
  while (true) {
    const std::size_t at = text.find('*');
    out += Literal(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    out += star;
    text.remove_prefix(at + 1);
  }
}

ArgumentConstraint Matching(std::string pattern) {
  ArgumentConstraint constraint;
  constraint.matches = std::move(pattern);
  return constraint;
}

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Any white space where the pattern has a blank: a shell takes one for the other.
std::string AnyBlanks(std::string_view pattern) {
  std::string out;
  for (const char c : pattern) out += c == ' ' ? std::string("\\s+") : std::string(1, c);
  return out;
}

std::vector<std::string> Parts(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return parts;
}

bool IsGlob(std::string_view part) { return part.find_first_of("*?[]!\\") != std::string_view::npos; }

// One part of a path; nothing for what is not translated: ranges and escapes.
std::optional<std::string> PartPattern(std::string_view part) {
  if (part.find_first_of("[]!\\") != std::string_view::npos) return std::nullopt;
  std::string out;
  for (const char c : part) {
    if (c == '*') {
      out += "[^/]*";
    } else if (c == '?') {
      out += "[^/]";
    } else {
      out += Literal(std::string_view(&c, 1));
    }
  }
  return out;
}

// A path with a part that matches, wherever it stands: at least what the pattern matches.
TranslatedPattern AnyPathWith(const std::vector<std::string>& parts) {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->find_first_not_of('*') == std::string::npos) continue;
    const auto pattern = PartPattern(*part);
    if (!pattern || *part == "..") break;
    return {Matching(fmt::format("(?i)(?:^|/){}(?:/|$)", *pattern)),
            fmt::format("any path with a part {} matches", *part)};
  }
  return {std::nullopt, "this pattern cannot be said"};
}

struct Anchored {
  std::optional<std::string> base;  // "/..." or "."; absent: a folder that is not known
  std::string_view rest;
};

Anchored Anchor(std::string_view pattern, const std::optional<std::string>& root) {
  if (pattern.starts_with("//")) return {"/", pattern.substr(2)};
  if (pattern.starts_with("~")) return {std::nullopt, pattern.substr(1)};
  if (pattern.starts_with("/")) return {root, pattern.substr(1)};
  return {".", pattern.starts_with("./") ? pattern.substr(2) : pattern};
}

// As PartPattern, but what matches is never "..".
std::optional<std::string> SurePartPattern(std::string_view part) {
  if (part == "*") return "[^/.][^/]*";
  if (part.find_first_not_of("*?.") == std::string_view::npos) return std::nullopt;
  return PartPattern(part);
}

// The folder that all matches lie in, and the pattern of the whole text where that is not enough.
TranslatedPattern Exactly(const std::string& base, const std::vector<std::string>& parts) {
  std::string prefix = base;
  std::size_t literal = 0;
  for (; literal < parts.size() && !IsGlob(parts[literal]); ++literal) {
    prefix += (prefix.ends_with('/') ? "" : "/") + parts[literal];
  }
  ArgumentConstraint constraint;
  constraint.path_prefix = NormalPath(prefix);
  if (!constraint.path_prefix) return {std::nullopt, "it leads out of the folder that it begins in"};
  const bool everything_below =
      literal == parts.size() || (literal + 1 == parts.size() && parts[literal] == "**");
  if (everything_below) return {constraint, ""};
  std::string whole = base == "." ? "^(?:\\./)*" : "^" + Literal(base);
  if (base != "." && !base.ends_with('/')) whole += '/';
  for (std::size_t i = 0; i < literal; ++i) whole += Literal(parts[i]) + '/';
  for (std::size_t i = literal; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    if (parts[i] == "**") {
      whole += last ? ".+" : "(?:[^/]+/)*";
      continue;
    }
    const auto part = SurePartPattern(parts[i]);
    if (!part) return {std::nullopt, "its ranges, escapes or dots cannot be said"};
    whole += *part + (last ? "" : "/");
  }
  constraint.matches = whole + "$";
  return {constraint, ""};
}

}  // namespace

TranslatedPattern TranslateCommand(std::string_view pattern, Effect effect) {
  if (pattern.empty() || pattern == "*" || pattern == ":*") return {ArgumentConstraint{}, ""};
  const bool colon = pattern.ends_with(":*");
  if (colon) pattern.remove_suffix(2);
  const bool spaced = !colon && pattern.ends_with(" *");
  if (spaced) pattern.remove_suffix(2);
  const bool open = colon || spaced;  // anything may follow, after a blank
  if (effect != Effect::kAllow) {
    const std::string before =
        !pattern.empty() && IsWordCharacter(pattern.front()) ? "(?:^|[^A-Za-z0-9_-])" : "";
    const std::string after =
        !pattern.empty() && IsWordCharacter(pattern.back()) ? "(?:$|[^A-Za-z0-9_-])" : "";
    return {Matching("(?s)" + before + AnyBlanks(WithStars(pattern, ".*")) + after),
            "matches wherever the words stand in a command"};
  }
  const std::string any = std::string(kPlainText) + "*";
  return {Matching("^" + WithStars(pattern, any) + (open ? "(?: " + any + ")?" : "") + "$"),
          open || pattern.find('*') != std::string_view::npos
              ? "matches single plain commands only, without operators, redirections and substitutions"
              : ""};
}

TranslatedPattern TranslatePath(std::string_view pattern, Effect effect,
                                const std::optional<std::string>& root) {
  if (pattern.empty() || pattern == "*" || pattern == "**") {
    return effect == Effect::kAllow ? TranslatedPattern{std::nullopt, "it has no meaning that is sure"}
                                    : TranslatedPattern{ArgumentConstraint{}, ""};
  }
  const Anchored anchored = Anchor(pattern, root);
  const std::vector<std::string> parts = Parts(anchored.rest);
  const bool anywhere = anchored.base == "." && pattern.find('/') == std::string_view::npos;
  if (effect != Effect::kAllow) {
    // A whole folder, or one path: its normal form is compared, and what cannot be placed matches.
    const TranslatedPattern exact =
        anchored.base && !anywhere ? Exactly(*anchored.base, parts) : TranslatedPattern{};
    if (exact.constraint && !exact.constraint->matches && anchored.base != ".") return exact;
    return AnyPathWith(parts);
  }
  if (!anchored.base) {
    return {std::nullopt, pattern.starts_with('~') ? "the home folder is not known to a policy"
                                                   : "it is relative to the project, which --root names"};
  }
  TranslatedPattern exact = Exactly(*anchored.base, parts);
  if (exact.constraint && anchored.base == ".") {
    exact.note = "matches relative paths only, from the folder in which the tool works";
  }
  return exact;
}

}  // namespace gloveport
