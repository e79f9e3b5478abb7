// Taking known secrets out of text. Pure.
#ifndef GLOVEPORT_CORE_MODEL_SECRET_TEXT_H_
#define GLOVEPORT_CORE_MODEL_SECRET_TEXT_H_

#include <string>
#include <vector>

namespace gloveport {

// `text` with "[secret]" in place of each of `secrets`; empty ones are ignored.
std::string WithoutSecrets(std::string text, const std::vector<std::string>& secrets);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_SECRET_TEXT_H_
