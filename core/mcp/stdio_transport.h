// StdioTransport: an MCP server as a child process; one message a line on its standard input and output. What
// it writes to its standard error is kept, the last few KiB of it, for error messages. Thread-safe.
#ifndef GLOVEPORT_CORE_MCP_STDIO_TRANSPORT_H_
#define GLOVEPORT_CORE_MCP_STDIO_TRANSPORT_H_

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/mcp/limits.h"
#include "gloveport/core/mcp/server_process.h"
#include "gloveport/core/mcp/transport.h"
#include "gloveport/core/mcp/turn_gate.h"

namespace gloveport {

struct StdioTransportOptions {
  ServerCommand command;
  McpLimits limits;
  // How long the server may take to end after its input was closed, and again after SIGTERM; then SIGKILL.
  std::chrono::milliseconds grace{2'000};
  // For a message that the server does not read, where the message has no earlier deadline.
  std::chrono::milliseconds write_time{30'000};
};

class StdioTransport : public McpTransport {
 public:
  explicit StdioTransport(StdioTransportOptions options);
  ~StdioTransport() override;

  McpTransportKind kind() const override { return McpTransportKind::kStdio; }
  Status Open(McpReceiver receiver) override;
  Status Send(const McpOutgoing& message) override;
  void Agreed(std::string_view) override {}
  std::string Ending() const override;
  std::string LastWords() const override;
  void Close() override;

 private:
  void Run(std::promise<Status>& started);            // the thread that owns the process
  std::optional<Error> Read(ServerProcess& process);  // until it is over; nothing where we closed
  Status TakeOutput(ServerProcess& process);          // kClosed at the end of file
  void TakeErrors(ServerProcess& process);
  void End(ServerProcess& process);
  bool AwaitEnd(ServerProcess& process);  // true when it ended within the grace; drops what it writes
  Status Write(const McpOutgoing& message, bool& partly_written);

  const StdioTransportOptions options_;
  McpReceiver receiver_;
  UniqueFd wake_;  // eventfd: Close was called
  std::atomic<bool> closing_{false};
  TurnGate writing_;
  UniqueFd input_;    // of whoever has the turn; none once it is lost
  std::string line_;  // of the reading thread: what has no line end yet
  mutable std::mutex words_mutex_;
  std::string errors_;  // the last of what it wrote to its standard error
  std::string ended_;   // how it ended; empty while it runs
  std::thread thread_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_STDIO_TRANSPORT_H_
