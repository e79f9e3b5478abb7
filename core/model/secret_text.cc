#include "gloveport/core/model/secret_text.h"

#include <string_view>

namespace gloveport {

std::string WithoutSecrets(std::string text, const std::vector<std::string>& secrets) {
  constexpr std::string_view kShown = "[secret]";
  for (const std::string& secret : secrets) {
    if (secret.empty()) continue;
    for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kShown.size())) {
      text.replace(at, secret.size(), kShown);
    }
  }
  return text;
}

}  // namespace gloveport
