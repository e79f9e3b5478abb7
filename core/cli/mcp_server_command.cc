#include "gloveport/core/cli/mcp_server_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/agent_flags.h"
#include "gloveport/core/cli/builtin_option.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/hook_option.h"
#include "gloveport/core/cli/interrupt_watcher.h"
#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/cli/version.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/serve/mcp/http_endpoint.h"
#include "gloveport/core/serve/mcp/service.h"
#include "gloveport/core/serve/mcp/stdio_server.h"
#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

constexpr const char* kTokenVariable = "GLOVEPORT_MCP_TOKEN";
constexpr std::size_t kMaxTokenBytes = 64u << 10;

using Serve = std::function<Status(McpService&)>;
using Tools = std::shared_ptr<const ToolRegistry>;

// What has to be there before a server is.
struct Parts {
  Policy policy;
  Tools tools;
  std::shared_ptr<DecisionHook> hook;
};

Result<Parts> ReadParts(const Program& program, const McpServerFlags& flags) {
  Parts parts;
  ASSIGN_OR_RETURN(parts.policy, AtOption("--policy", LoadPolicy(flags.policy)));
  ASSIGN_OR_RETURN(const Tools granted, GrantTools(program, flags.tools));
  // The terminal, if there is one, is not the client's user: nobody is asked there.
  ASSIGN_OR_RETURN(parts.tools, WithBuiltinTools(granted, flags.builtin, nullptr));
  ASSIGN_OR_RETURN(parts.hook, MakeHook(flags.hook));
  return parts;
}

Status ServeWith(const McpServerFlags& flags, Parts parts, Runtime& runtime, const Serve& serve,
                 Console& console) {
  ASSIGN_OR_RETURN(const auto upstream, OpenMcp(flags.mcp, &runtime, nullptr, console));
  McpServerOptions options;
  options.server.version = kVersion;
  options.policy = std::move(parts.policy);
  options.tools = [&, own = parts.tools] { return AddMcpTools(upstream, own, console); };
  options.limits.max_sessions_per_client = flags.max_sessions;
  options.limits.max_sessions = flags.max_sessions_total;
  options.limits.idle_timeout =
      std::chrono::milliseconds(std::llround(std::ceil(std::min(flags.idle_timeout_s, 1e9) * 1000)));
  // Whatever is wrong with the tools is said now, not to the first client.
  ASSIGN_OR_RETURN(const auto service, McpService::Create(runtime, std::move(options)));
  if (const auto tools = service->VisibleTools(); !tools) return tl::unexpected<Error>(tools.error());
  return serve(*service);
}

ExitCode Run(const Program& program, std::string_view command, const McpServerFlags& flags,
             const Serve& serve, Console& console) {
  const auto fail = [&](const Error& error) {
    return ReportFailure(program, command, error, FailureForm::kText, console);
  };
  const auto log = OpenAuditLog(flags.audit);
  if (!log) return fail(log.error()), kExitUsage;
  auto parts = ReadParts(program, flags);
  if (!parts) return fail(parts.error()), kExitUsage;
  auto runtime = Runtime::Create({.record = *log, .hook = parts->hook});
  if (!runtime) return fail(runtime.error()), kExitConfinement;
  const Status served = ServeWith(flags, std::move(*parts), **runtime, serve, console);
  runtime->reset();
  const bool recorded = FinishAuditLog(*log, console);
  if (!served) return fail(served.error());
  return recorded ? kExitOk : kExitProgramFailed;
}

Result<UniqueFd> MakeEvent() {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return FailErrno("cannot make an eventfd", errno);
  return event;
}

void Signal(const UniqueFd& event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(event.get(), &one, sizeof one);
}

// ---- HTTP ----

// "127.0.0.1:8931", "[::1]:0", "localhost:80".
Status ReadListen(const std::string& text, McpHttpOptions& options) {
  const auto colon = text.rfind(':');
  std::uint16_t port = 0;
  const std::string_view digits = colon == std::string::npos ? "" : std::string_view(text).substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return Fail(ErrorCode::kInvalidArgument, fmt::format("--listen: \"{}\" is no ADDRESS:PORT", text),
                "write 127.0.0.1:8931, or port 0 for one that is free");
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  options.address = std::move(address);
  options.port = port;
  return {};
}

// A line each; the environment has one.
Result<std::vector<std::string>> ReadTokens(const std::string& file) {
  std::vector<std::string> tokens;
  if (!file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, AtOption("--token-file", ReadFile(file, kMaxTokenBytes)));
    for (const std::string_view line : SplitLines(text)) {
      if (!Trim(line).empty()) tokens.emplace_back(Trim(line));
    }
    if (tokens.empty())
      return Fail(ErrorCode::kInvalidArgument, fmt::format("--token-file: {} holds no token", file));
  }
  if (const char* token = std::getenv(kTokenVariable); token != nullptr && *token != '\0')
    tokens.emplace_back(token);
  return tokens;
}

Result<McpHttpOptions> ReadHttpOptions(const ServeFlags& flags) {
  McpHttpOptions options;
  RETURN_IF_ERROR(ReadListen(flags.listen, options));
  ASSIGN_OR_RETURN(options.tokens, ReadTokens(flags.token_file));
  options.path = flags.path;
  options.allowed_hosts = flags.allowed_hosts;
  options.allowed_origins = flags.allowed_origins;
  return options;
}

}  // namespace

void AddMcpServerFlags(CLI::App& command, McpServerFlags& flags) {
  command
      .add_option("--policy,-p", flags.policy,
                  "A preset's name or a policy file; clients cannot choose another")
      ->capture_default_str();
  command.add_option("--tools,-t", flags.tools, "Tools of this program to grant, by name: a,b")
      ->delimiter(',');
  command
      .add_option("--max-sessions", flags.max_sessions, "Python sessions that a client may have open at once")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--max-sessions-total", flags.max_sessions_total, "The same, of all clients together")
      ->check(CLI::Range(1, 4000))
      ->capture_default_str();
  command
      .add_option("--idle-timeout", flags.idle_timeout_s,
                  "Seconds after which a session that nobody uses ends")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void AddServeFlags(CLI::App& command, ServeFlags& flags) {
  command
      .add_option("--mcp", flags.mcp,
                  "Serve the Model Context Protocol; with NAME=COMMAND or NAME=URL also offer the tools of\n"
                  "that MCP server inside the code; may be repeated")
      ->expected(0, 1)
      ->take_all()
      ->required();
  command.add_option("--listen", flags.listen, "Loopback address and port; port 0: one that is free")
      ->capture_default_str();
  command.add_option("--path", flags.path, "Of the endpoint")->capture_default_str();
  command.add_option("--token-file", flags.token_file,
                     "File with bearer tokens, one a line, of which clients must show one; each is a client\n"
                     "of its own. GLOVEPORT_MCP_TOKEN in the environment is one more");
  command
      .add_option("--allow-host", flags.allowed_hosts,
                  "Further value of the header field Host, of a proxy before this server; needs a token")
      ->take_all()
      ->expected(1);
  command
      .add_option("--allow-origin", flags.allowed_origins,
                  "Web pages of this origin, such as https://app.example.org, may use the server")
      ->take_all()
      ->expected(1);
}

ExitCode RunMcpServer(const Program& program, const McpServerFlags& flags, Console& console) {
  const auto serve = [](McpService& service) -> Status {
    ASSIGN_OR_RETURN(const UniqueFd stop, MakeEvent());
    InterruptWatcher watcher([&stop] { Signal(stop); });
    return ServeMcpStdio(service, {.stop_fd = stop.get()});
  };
  return Run(program, "mcp", flags, serve, console);
}

ExitCode RunServe(const Program& program, const ServeFlags& flags, Console& console) {
  auto http = ReadHttpOptions(flags);
  if (!http) return ReportFailure(program, "serve", http.error(), FailureForm::kText, console), kExitUsage;
  McpServerFlags server = flags.server;
  for (const std::string& upstream : flags.mcp) {
    if (!upstream.empty()) server.mcp.servers.push_back(upstream);
  }
  const auto serve = [&](McpService& service) -> Status {
    ASSIGN_OR_RETURN(const UniqueFd stop, MakeEvent());
    InterruptWatcher watcher([&stop] { Signal(stop); });
    auto started = McpHttpEndpoint::Start(service, *http);
    // Where it may not listen is a matter of how the command was called, not of a policy.
    if (!started && started.error().code == ErrorCode::kDenied)
      started.error().code = ErrorCode::kInvalidArgument;
    ASSIGN_OR_RETURN(const auto endpoint, std::move(started));
    console.Note(
        fmt::format("MCP at {}{}", endpoint->url(), http->tokens.empty() ? "" : ", with a bearer token"));
    RETURN_IF_ERROR(WaitFor(stop.get(), POLLIN, Deadline::Never()));
    return {};
  };
  return Run(program, "serve", server, serve, console);
}

}  // namespace gloveport
