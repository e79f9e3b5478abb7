// Redactor: takes secrets out of text before it reaches a log, a trace or a model. Immutable once compiled;
// may be used from any thread.
//
// It sees one text at a time: a secret that is cut in two by whoever hands the text over is not recognised,
// nor one in another encoding (base64, escapes). Lengths change; offsets into the text do not hold
// afterwards.
#ifndef GLOVEPORT_POLICY_REDACTION_H_
#define GLOVEPORT_POLICY_REDACTION_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

class Redactor {
 public:
  // Takes nothing out.
  Redactor();

  // The patterns of `policy.redact`, and with `redact_secrets` those that are built in. kInvalidArgument for
  // a pattern that is none (ParsePolicy has refused those already).
  static Result<Redactor> Compile(const Policy& policy);

  // Each match is replaced by "[redacted:NAME]"; of a pattern with a group, only what the first group
  // matched. Where matches overlap, all of it is replaced, under the name of the one that begins first. Time
  // is linear in the text; a text without a secret is gone through once. Text that is no UTF-8 is taken as it
  // is.
  std::string Apply(std::string_view text) const;

  // Whether Apply would change the text.
  bool Finds(std::string_view text) const;

  bool empty() const;

 private:
  struct Patterns;
  explicit Redactor(std::shared_ptr<const Patterns> patterns);

  std::shared_ptr<const Patterns> patterns_;
};

// What `redact_secrets` stands for: private keys, tokens and keys of well-known services, bearer and basic
// credentials, passwords in URLs, and values that are assigned to names such as api_key or password.
std::span<const RedactionPattern> BuiltInRedactions();

bool IsRedactionName(std::string_view name);
// kInvalidArgument with the reason for a pattern that RE2 does not take, or that matches the empty text.
Status CheckRedactionPattern(std::string_view pattern);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_REDACTION_H_
