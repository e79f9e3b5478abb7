// A policy file; what is read can be written and read again, and its tool rules can be asked.
#include <vector>

#include "gloveport/policy/codec.h"
#include "gloveport/policy/tool_rules.h"

#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gloveport;
  std::vector<PolicyWarning> warnings;
  const auto policy = ParsePolicy(TextOf(data, size), "fuzz", &warnings);
  if (!policy) {
    PROMISE(!policy.error().message.empty());
    return 0;
  }
  const std::string text = PolicyToJson(*policy);
  const auto again = ParsePolicy(text, "again");
  PROMISE(again && *again == *policy && PolicyToJson(*again) == text);
  if (const auto gate = ToolGate::Compile(policy->tools)) {
    (void)gate->Decide("send_mail", [](std::string_view) { return std::nullopt; });
    (void)gate->IsHidden("send_mail");
  }
  return 0;
}
