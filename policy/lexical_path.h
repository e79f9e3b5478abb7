// Paths as text: nothing here looks at a file system, so symbolic links are not followed. Pure.
#ifndef GLOVEPORT_POLICY_LEXICAL_PATH_H_
#define GLOVEPORT_POLICY_LEXICAL_PATH_H_

#include <optional>
#include <string>
#include <string_view>

namespace gloveport {

// Without ".", empty parts and a slash at the end, and with ".." resolved: "/data//a/../b/" is "/data/b",
// "./x" is "x", "a/.." is ".". Nothing for a text that is no path (empty, NUL inside) or a relative path that
// climbs out of where it starts ("../x").
std::optional<std::string> NormalPath(std::string_view path);

// Whether `path` is `folder` or lies below it. Both must be normal.
bool IsAtOrBelow(std::string_view path, std::string_view folder);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_LEXICAL_PATH_H_
