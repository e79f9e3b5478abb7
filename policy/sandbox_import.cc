// What sandbox-runtime says of files and network. There, everything can be read but what denyRead names (and
// what allowRead names is an exception from that), and nothing can be written but what allowWrite names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "gloveport/policy/lexical_path.h"
#include "gloveport/policy/policy_import.h"

namespace gloveport {
namespace {

using std::literals::string_view_literals::operator""sv;

// The absolute path that `text` spells out, as a policy takes it; else why not, in `why`.
std::optional<std::string> HostPath(std::string_view text, std::string& why) {
  if (text.find_first_of("*?[]{}") != std::string_view::npos) {
    why = "it is a pattern, and a policy names whole folders and files";
    return std::nullopt;
  }
  auto normal = NormalPath(text);
  if (text.starts_with('~') || !normal || !normal->starts_with('/')) {
    why = "it is relative to a folder that a policy does not know; write it from / on";
    return std::nullopt;
  }
  for (const std::string_view refused : {"/proc"sv, "/sys"sv, "/dev"sv, "/workdir"sv}) {
    if (*normal == "/" || IsAtOrBelow(*normal, refused)) {
      why = "the root as a whole, /proc, /sys, /dev and /workdir are never taken from the host";
      return std::nullopt;
    }
  }
  return normal;
}

class SandboxImport {
 public:
  SandboxImport(std::string_view origin, PolicyDraft& draft) : origin_(origin), draft_(draft) {}

  Status Files(const JsonNode& node) {
    if (node.kind != JsonNode::Kind::kObject)
      return JsonFault(origin_, node.at, "filesystem must be an object");
    for (const JsonMember& member : node.members) RETURN_IF_ERROR(FileKey(node, member));
    return {};
  }

  Status Network(const JsonNode& node) {
    if (node.kind != JsonNode::Kind::kObject) return JsonFault(origin_, node.at, "network must be an object");
    for (const JsonMember& member : node.members) {
      if (member.key == "allowedDomains") {
        RETURN_IF_ERROR(Each(member, [this](const JsonNode& item) {
          draft_.Note(
              item.at, ImportOutcome::kLeftOut,
              fmt::format("{}: sessions have no network; offer a tool that fetches, with a rule for its "
                          "hosts",
                          QuoteJson(item.text)));
        }));
      } else if (member.key == "deniedDomains") {
        RETURN_IF_ERROR(Each(member, [this](const JsonNode& item) {
          draft_.Note(item.at, ImportOutcome::kHolds,
                      fmt::format("{}: sessions have no network", QuoteJson(item.text)));
        }));
      } else {
        draft_.Note(member.at, ImportOutcome::kHolds,
                    fmt::format("network.{}: sessions have no network and no sockets", member.key));
      }
    }
    return {};
  }

 private:
  template <typename Take>
  Status Each(const JsonMember& list, Take take) {
    if (list.value.kind != JsonNode::Kind::kArray) {
      return JsonFault(origin_, list.value.at, fmt::format("{} must be a list", QuoteJson(list.key)));
    }
    for (const JsonNode& item : list.value.items) {
      if (item.kind != JsonNode::Kind::kText) {
        return JsonFault(origin_, item.at,
                         fmt::format("each entry of {} must be a string", QuoteJson(list.key)));
      }
      take(item);
    }
    return {};
  }

  Status FileKey(const JsonNode& files, const JsonMember& member) {
    if (member.key == "allowRead") {
      return Each(member, [&](const JsonNode& item) { AllowRead(files, item); });
    }
    if (member.key == "denyRead" || member.key == "denyWrite") {
      const bool read = member.key == "denyRead";
      return Each(member, [&](const JsonNode& item) {
        draft_.Note(item.at, ImportOutcome::kHolds,
                    fmt::format("{}: {}", QuoteJson(item.text),
                                read ? "a session sees nothing of the host but what files.read names"
                                     : "a session writes in its work folder only"));
      });
    }
    if (member.key == "allowWrite") {
      return Each(member, [&](const JsonNode& item) {
        draft_.Note(
            item.at, ImportOutcome::kLeftOut,
            fmt::format("{}: a session writes in its work folder only; name the folder with --workdir "
                        "when it is started",
                        QuoteJson(item.text)));
      });
    }
    draft_.Note(member.at, ImportOutcome::kIgnored,
                fmt::format("filesystem.{} has no meaning here", member.key));
    return {};
  }

  void AllowRead(const JsonNode& files, const JsonNode& item) {
    std::string why;
    const auto path = HostPath(item.text, why);
    if (path) why = DeniedBelow(files, *path);
    if (!why.empty()) {
      draft_.Note(item.at, ImportOutcome::kLeftOut, fmt::format("{}: {}", QuoteJson(item.text), why));
      return;
    }
    if (std::find(draft_.read.begin(), draft_.read.end(), *path) == draft_.read.end())
      draft_.read.push_back(*path);
  }

  // files.read has no exceptions: a folder in which something is denied is not granted. (An entry that cannot
  // be placed may lie in any folder.)
  static std::string DeniedBelow(const JsonNode& files, std::string_view folder) {
    const JsonNode* denied = files.Find("denyRead");
    if (denied == nullptr) return "";
    for (const JsonNode& item : denied->items) {
      std::string why;
      const auto path = HostPath(item.text, why);
      const auto plain = NormalPath(item.text);
      const bool above = plain && plain->starts_with('/') && IsAtOrBelow(folder, *plain) && *plain != folder;
      if (path ? IsAtOrBelow(*path, folder) : !above) {
        return fmt::format("denyRead has {}, which may lie in it, and files.read knows no exceptions",
                           QuoteJson(item.text));
      }
    }
    return "";
  }

  std::string_view origin_;
  PolicyDraft& draft_;
};

}  // namespace

Status ImportSandbox(const JsonNode& root, std::string_view origin, PolicyDraft& draft) {
  SandboxImport import(origin, draft);
  if (const JsonNode* files = root.Find("filesystem")) RETURN_IF_ERROR(import.Files(*files));
  if (const JsonNode* network = root.Find("network")) RETURN_IF_ERROR(import.Network(*network));
  return {};
}

}  // namespace gloveport
