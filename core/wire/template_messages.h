// What host and template say to each other: one CBOR map per packet of a SOCK_SEQPACKET pair, descriptors
// beside it. The template never runs model code, but its answers are checked like all others.
#ifndef GLOVEPORT_CORE_WIRE_TEMPLATE_MESSAGES_H_
#define GLOVEPORT_CORE_WIRE_TEMPLATE_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport::wire {

inline constexpr std::size_t kMaxTemplatePacket = 192 * 1024;
inline constexpr int kControlFd = 3;  // the template's end of the pair, its only descriptor beside 0, 1 and 2

// The first byte that a session sends on its channel: with kHandOver come the notification listener and the
// work folder; kNoHandOver means that confinement failed earlier, and SetupFailed follows.
inline constexpr char kHandOver = 'H';
inline constexpr char kNoHandOver = 'N';

// First packet, host to template: what to become.
struct TemplateStart {
  bool inspector = false;
  bool imports_ahead = true;  // else cells import the standard library's modules themselves
  bool own_root = true;       // else the degraded mode: seccomp and Landlock only
  bool landlock = true;
  bool dumpable = false;                   // sessions stay so: the host is to read what they open
  std::optional<std::uint32_t> hash_seed;  // of the interpreter, as PYTHONHASHSEED
  std::uint32_t spare_uid = 0;             // a root host's templates become this user; 0: the host is no root
  std::string policy;                      // JSON
  std::string workdir;  // host folder to bind at /workdir; empty: a tmpfs per session. In the degraded mode
                        // always set: the folder itself
  std::string notify_filter;  // BPF
  std::string main_filter;
};

// Answer to TemplateStart, and to ForkRequest. With a fork: the session's pidfd beside it.
struct TemplateReply {
  bool ok = false;
  std::int32_t pid = 0;              // ForkRequest: in the template's pid namespace
  std::vector<std::string> missing;  // TemplateStart: preload modules that are not installed
  std::string error_code;            // ErrorCodeName
  std::string message;
  std::string hint;
  std::int32_t status = 0;  // ReapRequest: as of waitpid
};

// Host to template, with six descriptors: channel, stdout, stderr, ring memory, the session's event, the
// host's event.
struct ForkRequest {
  std::uint64_t data_bytes = 0;  // limits of ResourceLimits, measured by the host
  std::uint64_t address_space_bytes = 0;
  std::optional<std::uint64_t> seed;
};

// Host to template: the exit status of a session whose pidfd says that it has ended.
struct ReapRequest {
  std::int32_t pid = 0;
};

std::string Encode(const TemplateStart& message);
std::string Encode(const TemplateReply& message);
std::string Encode(const ForkRequest& message);
std::string Encode(const ReapRequest& message);
Result<TemplateStart> DecodeTemplateStart(std::string_view packet);
Result<TemplateReply> DecodeTemplateReply(std::string_view packet);

struct TemplateRequest {
  std::optional<ForkRequest> fork;
  std::optional<ReapRequest> reap;
};
Result<TemplateRequest> DecodeTemplateRequest(std::string_view packet);

}  // namespace gloveport::wire

#endif  // GLOVEPORT_CORE_WIRE_TEMPLATE_MESSAGES_H_
