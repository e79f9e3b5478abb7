#include "gloveport/policy/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/policy/cost_rules_codec.h"
#include "gloveport/policy/instant.h"
#include "gloveport/policy/json_fields.h"
#include "gloveport/policy/json_reader.h"
#include "gloveport/policy/lexical_path.h"
#include "gloveport/policy/policy_names.h"
#include "gloveport/policy/presets.h"
#include "gloveport/policy/redaction.h"
#include "gloveport/policy/suggest.h"
#include "gloveport/policy/tool_rules_codec.h"

namespace gloveport {
namespace {

using Node = JsonNode;
using std::literals::string_view_literals::operator""sv;

constexpr std::size_t kMaxListItems = 10'000;
constexpr std::size_t kMaxRedactions = 1000;
constexpr std::uint64_t kMaxCalls = 1'000'000'000;
constexpr double kMaxTotal = 31'536'000;  // a year of CPU time

// Those that run text as code. What else the inspector refuses leads out of a cell and is never let through.
constexpr std::array kBuiltins = {"eval"sv, "exec"sv, "compile"sv};

constexpr std::array kLayers = {"seccomp"sv, "own_root"sv, "landlock"sv,     "no_new_privs"sv,
                                "mdwe"sv,    "rlimits"sv,  "capabilities"sv, "cgroup"sv};

// As interp/child/python/inspector_names.py has them; tests/policy/schema_test.py compares. Not those that
// give builtins: they are never let through.
constexpr std::array kAttributes = {
    "__globals__"sv, "__code__"sv, "__closure__"sv, "__subclasses__"sv, "__bases__"sv,
    "__base__"sv,    "__mro__"sv,  "__self__"sv,    "__loader__"sv,     "__spec__"sv,
    "gi_frame"sv,    "cr_frame"sv, "ag_frame"sv,    "tb_frame"sv,       "f_globals"sv,
    "f_locals"sv,    "gi_code"sv,  "cr_code"sv,     "ag_code"sv,        "enable_load_extension"sv};

void AddOnce(std::vector<std::string>& list, std::string item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
}

class PolicyDecoder {
 public:
  PolicyDecoder(std::string_view origin, std::vector<PolicyWarning>* warnings,
                std::vector<Error>* faults = nullptr)
      : fields_(origin, faults), warnings_(warnings) {}

  Result<Policy> Decode(const Node& root) {
    RETURN_IF_ERROR(fields_.Expect(root, Node::Kind::kObject, "a policy"));
    RETURN_IF_ERROR(fields_.Keep(Extend(root)));
    RETURN_IF_ERROR(fields_.Object(
        root, "the policy",
        {{"name", [this](const Node& n) { return Name(n); }},
         {"extends", [](const Node&) { return Status(); }},  // read first, wherever it stands
         {"imports", [this](const Node& n) { return Imports(n); }},
         {"builtins", [this](const Node& n) { return Builtins(n); }},
         {"attributes", [this](const Node& n) { return Attributes(n); }},
         {"cost", [this](const Node& n) { return ReadCostRules(n, fields_, policy_.cost, warnings_); }},
         {"redact", [this](const Node& n) { return Redactions(n); }},
         {"redact_secrets", [this](const Node& n) { return RedactSecrets(n); }},
         {"tools", [this](const Node& n) { return ReadToolRules(n, fields_, policy_.tools, warnings_); }},
         {"limits", [this](const Node& n) { return ReadLimits(n); }},
         {"files", [this](const Node& n) { return Files(n); }},
         {"packages", [this](const Node& n) { return Paths(n, "packages", policy_.packages); }},
         {"preload", [this](const Node& n) { return Modules(n, "preload", policy_.preload); }},
         {"network", [this](const Node& n) { return ReadNetwork(n); }},
         {"inspection", [this](const Node& n) { return ReadInspection(n); }},
         {"checkpoint", [this](const Node& n) { return ReadCheckpoints(n); }},
         {"evidence", [this](const Node& n) { return ReadEvidence(n); }},
         {"clock", [this](const Node& n) { return ReadClock(n); }},
         {"seed",
          [this](const Node& n) {
            return fields_.Whole(n, "seed", 0, kMaxPolicySeed, policy_.seed.emplace());
          }},
         {"layers", [this](const Node& n) { return Layers(n); }},
         {"$schema", [this](const Node& n) { return fields_.Expect(n, Node::Kind::kText, "$schema"); }}}));
    return std::move(policy_);
  }

 private:
  Status Extend(const Node& root) {
    const Node* node = root.Find("extends");
    if (node == nullptr) return {};
    std::string preset;
    RETURN_IF_ERROR(fields_.Text(*node, "extends", preset));
    auto base = PresetPolicy(preset);
    if (!base) return fields_.Fault(node->at, base.error().message, base.error().hint);
    policy_ = std::move(*base);
    policy_.name = "custom";
    return {};
  }

  Status Name(const Node& node) {
    RETURN_IF_ERROR(fields_.Text(node, "name", policy_.name));
    const bool printable = std::all_of(policy_.name.begin(), policy_.name.end(), [](char c) {
      return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
    });
    if (!policy_.name.empty() && policy_.name.size() <= 200 && printable) return {};
    return fields_.Fault(node.at, "name must be 1 to 200 bytes of text without control characters");
  }

  Status Imports(const Node& node) {
    ImportRules& imports = policy_.imports;
    RETURN_IF_ERROR(fields_.Object(
        node, "imports",
        {{"allow", [&](const Node& n) { return ImportNames(n, "imports.allow", imports.allow); }},
         {"deny", [&](const Node& n) { return ImportNames(n, "imports.deny", imports.deny); }},
         {"ask", [&](const Node& n) { return ImportNames(n, "imports.ask", imports.ask); }}}));
    if (warnings_ == nullptr) return {};
    WarnIfOverruled(node.Find("allow"), Effect::kAllow, "allowing");
    WarnIfOverruled(node.Find("ask"), Effect::kAsk, "asking about");
    return {};
  }

  void WarnIfOverruled(const Node* list, Effect meant, std::string_view doing) {
    if (list == nullptr) return;
    for (const Node& item : list->items) {
      // "*" is what everything else stands back from; it says nothing only where deny has it too.
      const Effect effect =
          item.text == "*" && meant == Effect::kAllow ? Effect::kAllow : policy_.imports.EffectOf(item.text);
      if (effect == meant) continue;
      warnings_->push_back(
          {item.at.line, item.at.column,
           fmt::format("{} {} has no effect: another entry says {}, and deny beats ask beats allow", doing,
                       QuoteJson(item.text), EffectName(effect))});
    }
  }

  Status ImportNames(const Node& node, std::string_view what, std::vector<std::string>& out) {
    return Items(node, what, out, [this, what](const Node& item, std::string& name) -> Status {
      if (item.text != "*" && !IsModuleName(item.text)) {
        return fields_.Fault(
            item.at, fmt::format("{} in {} is no module name", QuoteJson(item.text), what),
            "write a module such as \"scipy\" or \"xml.etree\" (submodules are covered), or \"*\" for all");
      }
      name = item.text;
      return {};
    });
  }

  Status Builtins(const Node& node) {
    return fields_.Object(node, "builtins", {{"allow", [this](const Node& n) {
                                                return fields_.List(
                                                    n, "builtins.allow",
                                                    [this](const Node& item) { return Builtin(item); });
                                              }}});
  }

  Status Builtin(const Node& item) {
    ASSIGN_OR_RETURN(const std::size_t word, fields_.Word(item, "an entry of builtins.allow", kBuiltins));
    AddOnce(policy_.builtins.allow, std::string(kBuiltins[word]));
    return {};
  }

  Status Attributes(const Node& node) {
    AttributeRules& attributes = policy_.attributes;
    const auto denied = [this](const Node& item, std::string& name) {
      if (!IsIdentifier(item.text)) {
        return Status(fields_.Fault(
            item.at, fmt::format("{} in attributes.deny is no name of an attribute", QuoteJson(item.text))));
      }
      name = item.text;
      return Status();
    };
    RETURN_IF_ERROR(fields_.Object(
        node, "attributes",
        {{"allow",
          [&](const Node& n) {
            return Items(n, "attributes.allow", attributes.allow,
                         [this](const Node& item, std::string& name) { return Attribute(item, name); });
          }},
         {"deny", [&](const Node& n) { return Items(n, "attributes.deny", attributes.deny, denied); }}}));
    const Node* allow = node.Find("allow");
    if (allow == nullptr || warnings_ == nullptr) return {};
    for (const Node& item : allow->items) {
      if (std::find(attributes.deny.begin(), attributes.deny.end(), item.text) == attributes.deny.end())
        continue;
      warnings_->push_back(
          {item.at.line, item.at.column,
           fmt::format("allowing {} has no effect: attributes.deny has it too", QuoteJson(item.text))});
    }
    return {};
  }

  Status Attribute(const Node& item, std::string& name) {
    const bool of_module = item.text.find('.') != std::string::npos && IsModuleName(item.text);
    if (!of_module && std::find(kAttributes.begin(), kAttributes.end(), item.text) == kAttributes.end()) {
      return fields_.Fault(
          item.at,
          fmt::format("attributes.allow cannot have {}: the check refuses no such attribute",
                      QuoteJson(item.text)),
          SuggestionFor(item.text, kAttributes) + ", or a member of a module such as \"sys._getframe\"");
    }
    name = item.text;
    return {};
  }

  Status Redactions(const Node& node) {
    if (node.items.size() > kMaxRedactions) {
      return fields_.Fault(node.at, fmt::format("redact has more than {} entries", kMaxRedactions));
    }
    return fields_.List(node, "redact", [this](const Node& item) -> Status {
      RedactionPattern redaction;
      RETURN_IF_ERROR(fields_.Object(
          item, "an entry of redact",
          {{"name", [&](const Node& n) { return RedactionName(n, redaction.name); }},
           {"pattern", [&](const Node& n) { return RedactedPattern(n, redaction.pattern); }}}));
      if (item.Find("name") == nullptr || item.Find("pattern") == nullptr) {
        return fields_.Fault(item.at, "an entry of redact needs \"name\" and \"pattern\"");
      }
      policy_.redact.push_back(std::move(redaction));
      return {};
    });
  }

  Status RedactionName(const Node& node, std::string& name) {
    RETURN_IF_ERROR(fields_.Text(node, "name", name));
    if (IsRedactionName(name)) return {};
    return fields_.Fault(node.at, fmt::format("{} is no name for what is redacted", QuoteJson(name)),
                         "write 1 to 64 letters, digits, \"-\" or \"_\"");
  }

  Status RedactedPattern(const Node& node, std::string& pattern) {
    RETURN_IF_ERROR(fields_.Text(node, "pattern", pattern));
    const Status checked = CheckRedactionPattern(pattern);
    if (checked) return {};
    return fields_.Fault(node.at, checked.error().message, checked.error().hint);
  }

  Status RedactSecrets(const Node& node) {
    RETURN_IF_ERROR(fields_.Expect(node, Node::Kind::kBool, "redact_secrets"));
    policy_.redact_secrets = node.boolean;
    return {};
  }

  Status Modules(const Node& node, std::string_view what, std::vector<std::string>& out) {
    return Items(node, what, out, [this, what](const Node& item, std::string& name) -> Status {
      if (!IsModuleName(item.text)) {
        return fields_.Fault(item.at, fmt::format("{} in {} is no module name", QuoteJson(item.text), what));
      }
      name = item.text;
      return {};
    });
  }

  using ItemHandler = std::function<Status(const Node&, std::string&)>;
  Status Items(const Node& node, std::string_view what, std::vector<std::string>& out,
               const ItemHandler& take) {
    if (node.items.size() > kMaxListItems) {
      return fields_.Fault(node.at, fmt::format("{} has more than {} entries", what, kMaxListItems));
    }
    const std::string item_name = fmt::format("each entry of {}", what);
    return fields_.List(node, what, [&](const Node& item) -> Status {
      RETURN_IF_ERROR(fields_.Expect(item, Node::Kind::kText, item_name));
      std::string taken;
      RETURN_IF_ERROR(take(item, taken));
      AddOnce(out, std::move(taken));
      return {};
    });
  }

  Status Paths(const Node& node, std::string_view what, std::vector<std::string>& out) {
    return Items(node, what, out,
                 [this, what](const Node& item, std::string& path) { return Path(item, what, path); });
  }

  Status Path(const Node& item, std::string_view what, std::string& path) {
    const auto normal = NormalPath(item.text);
    const bool climbs = ("/" + item.text + "/").find("/../") != std::string::npos;
    if (!normal || !normal->starts_with('/') || climbs) {
      return fields_.Fault(item.at, fmt::format("{} in {} is no absolute path", QuoteJson(item.text), what),
                           "write the whole path from / on, without \"..\"");
    }
    for (const std::string_view refused : {"/proc"sv, "/sys"sv, "/dev"sv, "/workdir"sv}) {
      if (*normal != "/" && !IsAtOrBelow(*normal, refused)) continue;
      return fields_.Fault(
          item.at, fmt::format("{} cannot be in {}", QuoteJson(item.text), what),
          "the root as a whole, /proc, /sys, /dev and the work folder are never taken from the host; "
          "name the folders with the data");
    }
    path = *normal;
    return {};
  }

  Status Files(const Node& node) {
    return fields_.Object(
        node, "files",
        {{"read", [this](const Node& n) { return Paths(n, "files.read", policy_.files.read); }}});
  }

  Status Duration(const Node& node, std::string_view what, std::chrono::milliseconds& out,
                  double most = 86'400) {
    double seconds = 0;
    RETURN_IF_ERROR(fields_.Number(node, what, seconds));
    if (!(seconds >= 0.01 && seconds <= most)) {
      return fields_.Fault(
          node.at, fmt::format("{} must be from 0.01 to {:.0f} seconds, not {}", what, most, node.text));
    }
    out = std::chrono::milliseconds(std::llround(seconds * 1000));
    return {};
  }

  Status ReadLimits(const Node& node) {
    Limits& limits = policy_.limits;
    const auto whole = [this](std::string_view what, std::uint64_t least, std::uint64_t most,
                              std::uint64_t& out) {
      return
          [this, what, least, most, &out](const Node& n) { return fields_.Whole(n, what, least, most, out); };
    };
    return fields_.Object(
        node, "limits",
        {{"wall_s", [&](const Node& n) { return Duration(n, "wall_s", limits.wall); }},
         {"cpu_s", [&](const Node& n) { return Duration(n, "cpu_s", limits.cpu); }},
         {"memory_mib", whole("memory_mib", 8, 1 << 20, limits.memory_mib)},
         {"output_kib", whole("output_kib", 1, 1 << 20, limits.output_kib)},
         {"open_files", whole("open_files", 8, 1 << 20, limits.open_files)},
         {"threads", whole("threads", 1, 4096, limits.threads)},
         {"disk_mib", whole("disk_mib", 1, 1 << 20, limits.disk_mib)},
         {"tool_calls", whole("tool_calls", 0, kMaxCalls, limits.tool_calls)},
         {"tool_calls_per_s", whole("tool_calls_per_s", 1, kMaxCalls, limits.tool_calls_per_s)},
         {"tool_call_kib", whole("tool_call_kib", 1, 192 << 10, limits.tool_call_kib)},
         {"result_mib", whole("result_mib", 1, 1 << 20, limits.result_mib)},
         {"total_cpu_s",
          [&](const Node& n) { return Duration(n, "total_cpu_s", limits.total_cpu, kMaxTotal); }},
         {"total_output_mib", whole("total_output_mib", 1, 1 << 30, limits.total_output_mib)},
         {"total_tool_calls", whole("total_tool_calls", 0, kMaxCalls, limits.total_tool_calls)},
         {"copies", whole("copies", 0, 1000, limits.copies)},
         {"approval_s",
          [&](const Node& n) { return Duration(n, "approval_s", limits.approval, kMaxTotal); }}});
  }

  Status ReadNetwork(const Node& node) {
    if (node.kind == Node::Kind::kText && node.text == "off") return {};
    return fields_.Fault(node.at, "network can only be \"off\": a session has no network",
                         "offer a tool of the host that fetches what the code needs");
  }

  Status ReadInspection(const Node& node) {
    static constexpr std::array kWords = {"required"sv, "optional"sv};
    ASSIGN_OR_RETURN(const std::size_t word, fields_.Word(node, "inspection", kWords));
    policy_.inspection = word == 0 ? Inspection::kRequired : Inspection::kOptional;
    return {};
  }

  Status ReadCheckpoints(const Node& node) {
    static constexpr std::array kWords = {"auto"sv, "off"sv, "each_cell"sv};
    ASSIGN_OR_RETURN(const std::size_t word, fields_.Word(node, "checkpoint", kWords));
    policy_.checkpoints = static_cast<Checkpoints>(word);
    return {};
  }

  Status ReadEvidence(const Node& node) {
    static constexpr std::array kWords = {"interpreter"sv, "kernel"sv};
    return fields_.Object(node, "evidence", {{"opens", [this](const Node& n) -> Status {
                                                ASSIGN_OR_RETURN(const std::size_t word,
                                                                 fields_.Word(n, "evidence.opens", kWords));
                                                policy_.evidence.opens = static_cast<EvidenceSource>(word);
                                                return {};
                                              }}});
  }

  Status ReadClock(const Node& node) {
    std::string text;
    RETURN_IF_ERROR(fields_.Text(node, "clock", text));
    policy_.clock = ParseInstant(text);
    if (policy_.clock || text == "real") return {};
    return fields_.Fault(node.at, fmt::format("clock cannot be {}", QuoteJson(text)),
                         "write \"real\", or an instant from 1970 to 2200 in UTC: \"2026-01-31T12:00:00Z\"");
  }

  Status Layers(const Node& node) {
    return fields_.Object(node, "layers", {{"require", [this](const Node& n) { return RequiredLayers(n); }}});
  }

  Status RequiredLayers(const Node& node) {
    std::vector<std::string> layers;
    const std::size_t faults_before = fields_.fault_count();
    RETURN_IF_ERROR(fields_.List(node, "layers.require", [&](const Node& item) -> Status {
      ASSIGN_OR_RETURN(const std::size_t word, fields_.Word(item, "an entry of layers.require", kLayers));
      AddOnce(layers, std::string(kLayers[word]));
      return {};
    }));
    if (fields_.fault_count() > faults_before) return {};  // what is wrong in it has been said
    policy_.required_layers = std::move(layers);
    if (policy_.Requires("seccomp") && (policy_.Requires("own_root") || policy_.Requires("landlock")))
      return {};
    return fields_.Fault(
        node.at, "layers.require must name \"seccomp\" and one of \"own_root\" and \"landlock\"",
        "write [\"seccomp\", \"own_root\"], or [\"seccomp\", \"landlock\"] for the degraded mode");
  }

  JsonFields fields_;
  std::vector<PolicyWarning>* warnings_;
  Policy policy_;
};

// Takes the place out of the message of JsonFault: "origin:3:7: message".
PolicyError PlacedError(const Error& fault, std::string_view origin) {
  PolicyError placed{0, 0, fault.message, fault.hint};
  std::string_view text = fault.message;
  if (!text.starts_with(origin) || text.size() == origin.size()) return placed;
  text.remove_prefix(origin.size() + 1);
  int numbers[2] = {0, 0};
  for (int& number : numbers) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr == text.data() + text.size() || *read.ptr != ':') return placed;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()) + 1);
  }
  return {numbers[0], numbers[1], std::string(text.substr(std::min<std::size_t>(1, text.size()))),
          fault.hint};
}

}  // namespace

std::span<const std::string_view> GuardedAttributes() { return kAttributes; }

std::span<const std::string_view> KnownLayers() { return kLayers; }

Result<Policy> ParsePolicy(std::string_view text, std::string_view origin,
                           std::vector<PolicyWarning>* warnings) {
  ASSIGN_OR_RETURN(const JsonNode root, ReadJson(text, origin));
  return PolicyDecoder(origin, warnings).Decode(root);
}

PolicyReport CheckPolicy(std::string_view text) {
  static constexpr std::string_view kOrigin = "policy";
  PolicyReport report;
  std::vector<Error> faults;
  const auto root = ReadJson(text, kOrigin);
  if (root) {
    auto policy = PolicyDecoder(kOrigin, &report.warnings, &faults).Decode(*root);
    if (!policy) {
      faults.push_back(policy.error());
    } else if (faults.empty()) {
      report.policy = std::move(*policy);
    }
  } else {
    faults.push_back(root.error());
  }
  for (const Error& fault : faults) report.errors.push_back(PlacedError(fault, kOrigin));
  const auto in_text_order = [](const auto& a, const auto& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  };
  std::stable_sort(report.errors.begin(), report.errors.end(), in_text_order);
  std::stable_sort(report.warnings.begin(), report.warnings.end(), in_text_order);
  return report;
}

Result<Policy> LoadPolicy(std::string_view name_or_path, std::vector<PolicyWarning>* warnings) {
  if (PresetText(name_or_path)) return PresetPolicy(name_or_path);
  auto text = ReadFile(std::filesystem::path(name_or_path), kMaxPolicyBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    std::vector<std::string_view> names;
    for (const Preset& preset : Presets()) names.push_back(preset.name);
    return Fail(ErrorCode::kNotFound,
                fmt::format("{} is neither a preset nor a policy file", QuoteJson(name_or_path)),
                SuggestionFor(name_or_path, names) + ", or the path of a JSON file");
  }
  if (!text) return tl::unexpected<Error>(std::move(text).error());
  ASSIGN_OR_RETURN(Policy policy, ParsePolicy(*text, name_or_path, warnings));
  if (policy.name == "custom") policy.name = std::filesystem::path(name_or_path).filename().string();
  return policy;
}

}  // namespace gloveport
