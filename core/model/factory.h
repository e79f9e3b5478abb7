// From what a user writes to a Model:
//
//   openai:NAME             chat completions, of OpenAI or a server that speaks them
//   openai-responses:NAME   OpenAI's Responses API
//   anthropic:NAME          the Messages API
//   scripted:FILE           a transcript (scripted.h)
//   record:FILE=MODEL       one of these, recorded into a new file (recording.h)
//   replay:FILE             a recording; ?match=order: whatever is asked
//
// Behind the name of a model of a server, options: NAME?action=tool&effort=high
//   action=text|json|tool   how it says what to run (ActionForm); text where nothing is said
//   effort=...              how much it thinks first, in the server's words; for anthropic also a number of
//   tokens cache=on|off            anthropic: whether the prompt is marked for the server's cache; on where
//   nothing is said
#ifndef GLOVEPORT_CORE_MODEL_FACTORY_H_
#define GLOVEPORT_CORE_MODEL_FACTORY_H_

#include <memory>
#include <string_view>

#include "gloveport/core/model/model.h"
#include "gloveport/core/net/proxy.h"

namespace gloveport {

// Reads from `environment`:
//   openai, openai-responses   OPENAI_API_KEY, OPENAI_BASE_URL; the key may be missing where a base URL is
//   set (a local
//                              server)
//   anthropic                  ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL
//   all                        the variables of ProxyRules::FromEnvironment; REQUESTS_CA_BUNDLE or
//   CURL_CA_BUNDLE, a PEM file
//                              with the authorities to trust, where neither SSL_CERT_FILE nor SSL_CERT_DIR is
//                              set (those OpenSSL reads itself)
// kInvalidArgument for an unknown kind or option, a missing name or key, a key or base URL that cannot be
// used; what Scripted::Load, Recorder::Create and Replayer::Load say for a file. Keys are in no message.
Result<std::unique_ptr<Model>> MakeModel(std::string_view spec,
                                         const EnvLookup& environment = ProcessEnvironment());

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_FACTORY_H_
