// Names as Python writes them. Pure.
#ifndef GLOVEPORT_POLICY_POLICY_NAMES_H_
#define GLOVEPORT_POLICY_POLICY_NAMES_H_

#include <string_view>

namespace gloveport {

// ASCII letters, digits and underscores, no digit first. (Keywords pass: no rule can match them, none can
// hurt.)
bool IsIdentifier(std::string_view text);

// Identifiers joined by dots, at most 200 bytes.
bool IsModuleName(std::string_view text);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_POLICY_NAMES_H_
