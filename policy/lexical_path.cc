#include "gloveport/policy/lexical_path.h"

#include <vector>

namespace gloveport {

std::optional<std::string> NormalPath(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return std::nullopt;
  const bool absolute = path.front() == '/';
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    } else if (!absolute) {  // "/.." is "/", but "../x" could be anywhere
      return std::nullopt;
    }
  }
  std::string out;
  for (const std::string_view part : parts) {
    if (absolute || !out.empty()) out.push_back('/');
    out += part;
  }
  if (out.empty()) out = absolute ? "/" : ".";
  return out;
}

bool IsAtOrBelow(std::string_view path, std::string_view folder) {
  if (path == folder) return true;
  if (folder == "/") return path.starts_with('/');
  if (folder == ".") return !path.starts_with('/');
  return path.size() > folder.size() && path[folder.size()] == '/' && path.starts_with(folder);
}

}  // namespace gloveport
