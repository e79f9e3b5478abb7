#include "gloveport/policy/policy_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

using std::literals::string_view_literals::operator""sv;

std::string Written(const PolicyDraft& draft, const ImportOptions& options, std::string_view origin) {
  std::string text =
      fmt::format("// Imported from {}. Tools and parameters have the names that they have there.\n{{\n",
                  QuoteJson(origin));
  text += fmt::format("  \"extends\": {}", QuoteJson(options.extends));
  if (!draft.read.empty()) {
    std::vector<std::string> paths;
    for (const std::string& path : draft.read) paths.push_back(QuoteJson(path));
    text += fmt::format(",\n  \"files\": {{\"read\": [{}]}}", fmt::join(paths, ", "));
  }
  if (!draft.default_effect.empty()) {
    text += fmt::format(",\n  \"tools\": {{\n    \"default\": {},\n    \"rules\": [",
                        QuoteJson(draft.default_effect));
    for (std::size_t i = 0; i < draft.rules.size(); ++i) {
      text += fmt::format("\n      {}{}  // {}", draft.rules[i].json, i + 1 < draft.rules.size() ? "," : "",
                          draft.rules[i].comment);
    }
    text += draft.rules.empty() ? "]\n  }" : "\n    ]\n  }";
  }
  return text + "\n}\n";
}

}  // namespace

std::string_view ImportOutcomeName(ImportOutcome outcome) {
  switch (outcome) {
    case ImportOutcome::kStricter:
      return "stricter";
    case ImportOutcome::kLeftOut:
      return "left out";
    case ImportOutcome::kHolds:
      return "holds anyway";
    case ImportOutcome::kIgnored:
      return "ignored";
  }
  return "";
}

void PolicyDraft::Note(JsonPosition at, ImportOutcome outcome, std::string message) {
  notes.push_back({at.line, at.column, outcome, std::move(message)});
}

Result<ImportedPolicy> ImportPolicy(std::string_view text, std::string_view origin,
                                    const ImportOptions& options) {
  ASSIGN_OR_RETURN(const JsonNode root, ReadJson(text, origin));
  const JsonNode* permissions = root.Find("permissions");
  const bool sandbox = root.Find("filesystem") != nullptr || root.Find("network") != nullptr;
  if (permissions == nullptr && !sandbox) {
    return JsonFault(
        origin, root.at, "this is no form that can be imported",
        "it needs \"permissions\" (Claude Code) or \"filesystem\" and \"network\" (sandbox-runtime)");
  }
  PolicyDraft draft;
  if (permissions != nullptr) RETURN_IF_ERROR(ImportPermissions(*permissions, origin, options, draft));
  if (sandbox) RETURN_IF_ERROR(ImportSandbox(root, origin, draft));
  for (const JsonMember& member : root.members) {
    static constexpr std::array kTaken = {"permissions"sv, "filesystem"sv, "network"sv, "$schema"sv};
    if (std::find(kTaken.begin(), kTaken.end(), member.key) != kTaken.end()) continue;
    draft.Note(member.at, ImportOutcome::kIgnored,
               fmt::format("{} is no part of what a policy says", QuoteJson(member.key)));
  }
  std::stable_sort(draft.notes.begin(), draft.notes.end(), [](const ImportNote& a, const ImportNote& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  ImportedPolicy imported{Written(draft, options, origin), std::move(draft.notes)};
  RETURN_IF_ERROR(ParsePolicy(imported.text, "the imported policy"));
  return imported;
}

}  // namespace gloveport
