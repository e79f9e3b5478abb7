// open_once [--require LAYER]...: opens a session of the preset "open", runs one cell and says in one line
// how it went:
//   ok LAYER... : VALUE          the layers that are active
//   CODE : MESSAGE : HINT        why no session could be had

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/host/runtime.h"
#include "gloveport/policy/presets.h"

namespace gloveport {
namespace {

int Complain(const Error& error) {
  fmt::print("{} : {} : {}\n", ErrorCodeName(error.code), error.message, error.hint);
  return 1;
}

int Main(const std::vector<std::string_view>& words) {
  auto policy = PresetPolicy("open");
  if (!policy) return Complain(policy.error());
  std::vector<std::string> required;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "--require") required.emplace_back(words[i + 1]);
  }
  if (!required.empty()) policy->required_layers = required;
  auto runtime = Runtime::Create({.min_ready = 0});
  if (!runtime) return Complain(runtime.error());
  SessionOptions options;
  options.policy = *policy;
  const auto session = (*runtime)->Open(std::move(options));
  if (!session) return Complain(session.error());
  const auto result = (*session)->Run("6 * 7", {.inspect = InspectMode::kOff});
  if (!result) return Complain(result.error());
  std::string layers;
  for (const LayerStatus& layer : (*session)->layers()) layers += layer.active ? " " + layer.name : "";
  fmt::print("ok{} : {}\n", layers, result->repr);
  return 0;
}

}  // namespace
}  // namespace gloveport

int main(int argc, char** argv) { return gloveport::Main({argv + 1, argv + argc}); }
