// Policy: the immutable answer to "what may this session do". Pure values; policy/codec.h reads and writes
// them as JSON, policy/presets.h has the shipped ones.
#ifndef GLOVEPORT_POLICY_POLICY_H_
#define GLOVEPORT_POLICY_POLICY_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gloveport {

enum class Effect { kAllow, kAsk, kDeny };
std::string_view EffectName(Effect effect);  // "allow", "ask", "deny"

// What was decided about a module, and which entry of which list ("deny", "ask", "allow") decided; both are
// empty where none names it.
struct ImportDecision {
  Effect effect = Effect::kDeny;
  std::string_view list;
  std::string entry;
};

// Which modules a cell may import by name. A name covers its submodules; "*" in `allow` covers everything.
// deny beats ask beats allow; what none of them names is denied.
struct ImportRules {
  std::vector<std::string> allow;
  std::vector<std::string> deny;
  std::vector<std::string> ask;

  Effect EffectOf(std::string_view module) const;
  ImportDecision Decide(std::string_view module) const;
  friend bool operator==(const ImportRules&, const ImportRules&) = default;
};

// Builtins that the inspector refuses unless they are named here: "eval", "exec", "compile".
struct BuiltinRules {
  std::vector<std::string> allow;
  friend bool operator==(const BuiltinRules&, const BuiltinRules&) = default;
};

// Attributes besides those that the inspector refuses by itself (`deny`), and those of them that it is to let
// through (`allow`: a name such as "__mro__", or a member of a module such as "sys._getframe"). deny beats
// allow. The inspector explains; what holds is the confinement.
struct AttributeRules {
  std::vector<std::string> allow;
  std::vector<std::string> deny;
  friend bool operator==(const AttributeRules&, const AttributeRules&) = default;
};

// A demand on one argument of a tool call; all that are set must hold.
struct ArgumentConstraint {
  std::optional<std::string> matches;              // re2 pattern, searched (not anchored) in text
  std::optional<std::vector<std::string>> one_of;  // JSON texts of the values allowed
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::optional<std::string> path_prefix;  // lexically normalised path must lie at or below
  std::optional<std::vector<std::string>>
      hosts;  // URL host must be one of these ("*.example.org" for subdomains)
  friend bool operator==(const ArgumentConstraint&, const ArgumentConstraint&) = default;
};

struct ToolRule {
  std::string tool;  // a name, or "*"
  Effect effect = Effect::kAllow;
  std::map<std::string, ArgumentConstraint> where;  // by parameter; empty: the rule always matches
  friend bool operator==(const ToolRule&, const ToolRule&) = default;
};

struct ToolRules {
  Effect default_effect = Effect::kAllow;
  std::vector<ToolRule> rules;  // the first that matches decides
  friend bool operator==(const ToolRules&, const ToolRules&) = default;
};

// What a call of a tool costs, in whatever unit the policy's author counts.
struct ToolPrice {
  double per_call = 0;
  double per_kib = 0;  // of the constant arguments that a cell spells out
  friend bool operator==(const ToolPrice&, const ToolPrice&) = default;
};

// What a cell may cost, as far as its text tells before it runs: calls of tools with a price, times the loops
// around them. An estimate: what the text does not tell is counted once, or not at all; `limits.tool_calls`
// holds whatever the text says.
struct CostRules {
  std::optional<double> escalate_above;
  std::optional<double> deny_above;
  std::map<std::string, ToolPrice> prices;  // by tool; "*": every other tool

  bool judges() const { return !prices.empty() && (escalate_above || deny_above); }
  friend bool operator==(const CostRules&, const CostRules&) = default;
};

// A secret that must not reach a log or a model: see policy/redaction.h.
struct RedactionPattern {
  std::string name;     // letters, digits, "-" and "_"
  std::string pattern;  // RE2
  friend bool operator==(const RedactionPattern&, const RedactionPattern&) = default;
};

struct Limits {
  std::chrono::milliseconds wall{30'000};  // per cell, host's clock; stops while an approval is waited for
  std::chrono::milliseconds cpu{20'000};   // per cell, user + system
  std::uint64_t memory_mib = 512;          // growth over the template
  std::uint64_t output_kib = 1024;         // kept per stream and cell; the rest is counted and dropped
  std::uint64_t open_files = 64;
  std::uint64_t threads = 32;
  std::uint64_t disk_mib = 256;     // work folder and temporary files together
  std::uint64_t tool_calls = 1000;  // per cell
  std::uint64_t tool_calls_per_s = 10'000;
  std::uint64_t tool_call_kib = 16 * 1024;  // arguments of one call, and its result
  std::uint64_t result_mib = 256;           // host memory for what a cell sends: value, displays, calls
  // Over all cells of a session.
  std::chrono::milliseconds total_cpu{3'600'000};
  std::uint64_t total_output_mib = 4096;
  std::uint64_t total_tool_calls = 100'000;
  std::uint64_t copies = 8;  // checkpoints and branches of a session that exist at the same time
  std::chrono::milliseconds approval{300'000};  // how long a person's decision is waited for
  friend bool operator==(const Limits&, const Limits&) = default;
};

struct FileRules {
  std::vector<std::string> read;  // host paths, visible read-only under the same path
  friend bool operator==(const FileRules&, const FileRules&) = default;
};

enum class Network { kOff };
enum class Inspection { kRequired, kOptional };
// Whether a session is copied before each cell, so that one that is killed or crashes costs only itself.
// kAuto: the agent loop does it, other sessions do not.
enum class Checkpoints { kAuto, kOff, kEachCell };

// Who is asked which files a session opens. kInterpreter: the audit hook, which native code can get around.
// kKernel besides: the host sees each such call, stopped, before the kernel decides it; that costs time.
enum class EvidenceSource { kInterpreter, kKernel };

struct Evidence {
  EvidenceSource opens = EvidenceSource::kInterpreter;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

inline constexpr std::uint64_t kMaxPolicySeed = (std::uint64_t{1} << 53) - 1;  // exact in every JSON reader

struct Policy {
  std::string name = "custom";  // preset name or file name, for messages and records
  ImportRules imports;
  BuiltinRules builtins;
  AttributeRules attributes;
  ToolRules tools;
  CostRules cost;
  Limits limits;
  FileRules files;
  std::vector<std::string> packages;  // user's package folders, read-only, importable
  std::vector<std::string> preload;   // modules the template imports once, before any session
  Network network = Network::kOff;
  Inspection inspection = Inspection::kRequired;
  Checkpoints checkpoints = Checkpoints::kAuto;
  std::vector<RedactionPattern> redact;
  bool redact_secrets = true;  // the patterns that are built in, besides `redact`
  Evidence evidence;
  // The wall clock of sessions starts at this instant, counted from 1970; absent: it is the real one.
  std::optional<std::chrono::nanoseconds> clock;
  // Hash seed and random numbers repeat from run to run; absent: they are random. At most kMaxPolicySeed.
  std::optional<std::uint64_t> seed;
  std::vector<std::string> required_layers = {"seccomp", "own_root"};  // or "landlock" instead of "own_root"

  bool Requires(std::string_view layer) const;
  friend bool operator==(const Policy&, const Policy&) = default;
};

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_POLICY_H_
