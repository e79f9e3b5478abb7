// PolicySource: where each value of a policy comes from: a line of its file, the preset it extends, or what
// holds where neither says anything. Immutable; may be used from any thread.
#ifndef GLOVEPORT_POLICY_POLICY_SOURCE_H_
#define GLOVEPORT_POLICY_POLICY_SOURCE_H_

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/codec.h"
#include "gloveport/policy/json_reader.h"

namespace gloveport {

// A tool as far as a policy can be checked against it.
struct KnownTool {
  std::string name;
  std::optional<std::vector<std::string>> parameters;  // absent: not known
};

class PolicySource {
 public:
  using Path = std::initializer_list<std::string_view>;  // {"limits", "wall_s"}

  // `text` is one that ParsePolicy takes; `name` stands before line and column ("policy.json:3:7").
  static Result<PolicySource> OfText(std::string_view text, std::string name);
  // As LoadPolicy: a preset's name, or the path of a file. Places in a preset are named without a line.
  static Result<PolicySource> Load(std::string_view name_or_path);

  // "policy.json:3:7", "preset default" or "built in".
  std::string Of(Path key) const;
  // Of one entry of a list: "imports", "allow" and then the entry as it stands in the policy.
  std::string OfItem(Path list, std::string_view item) const;
  // Of the tool rule with this index in the policy.
  std::string OfToolRule(std::size_t index) const;

  // Rules and prices of the file itself that name tools, or parameters of tools, that do not exist.
  std::vector<PolicyWarning> UnknownTools(const std::vector<KnownTool>& tools) const;

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }

 private:
  std::string Place(const JsonNode& node) const;

  std::string name_;
  std::string text_;
  bool is_preset_ = false;
  JsonNode own_;
  std::string base_name_;  // of the preset that is extended; empty where there is none
  JsonNode base_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_POLICY_SOURCE_H_
