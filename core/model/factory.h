// From what a user writes to a Model: "openai:NAME", "anthropic:NAME" or "scripted:FILE".
#ifndef GLOVEPORT_CORE_MODEL_FACTORY_H_
#define GLOVEPORT_CORE_MODEL_FACTORY_H_

#include <memory>
#include <string_view>

#include "gloveport/core/model/model.h"
#include "gloveport/core/net/proxy.h"

namespace gloveport {

// Reads from `environment`:
//   openai     OPENAI_API_KEY, OPENAI_BASE_URL; the key may be missing where a base URL is set (a local
//   server) anthropic  ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL both       the variables of
//   ProxyRules::FromEnvironment
// kInvalidArgument for an unknown kind, a missing name or key, a key or base URL that cannot be used; what
// Scripted::Load says for a file. Keys are in no message.
Result<std::unique_ptr<Model>> MakeModel(std::string_view spec,
                                         const EnvLookup& environment = ProcessEnvironment());

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_FACTORY_H_
