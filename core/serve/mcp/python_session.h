// McpPythonSession: a session of Python that a client of the MCP server holds by a handle. Its cells run one
// after the other. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_MCP_PYTHON_SESSION_H_
#define GLOVEPORT_CORE_SERVE_MCP_PYTHON_SESSION_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "gloveport/core/host/runtime.h"
#include "gloveport/core/serve/mcp/cell_call.h"
#include "gloveport/core/serve/mcp/server_options.h"
#include "gloveport/core/serve/mcp/turn_queue.h"

namespace gloveport {

class McpPythonSession {
 public:
  static Result<std::shared_ptr<McpPythonSession>> Open(Runtime& runtime, const McpServerOptions& options,
                                                        std::string handle);
  ~McpPythonSession();  // Close()

  const std::string& handle() const { return handle_; }

  // A place among its calls, in whose order they run.
  std::shared_ptr<TurnQueue::Place> Join() { return turns_.Join(); }

  // When the place has its turn: runs one cell of `call`, which is told of tools and asked for approval
  // meanwhile. kClosed where the session was closed, or ended by its idle time-out; kDeadlineExceeded never;
  // kDenied where the call was cancelled before.
  Result<CellResult> Run(std::string_view code, const RunOptions& options,
                         const std::shared_ptr<McpCellCall>& call, TurnQueue::Place& place);

  bool closed() const;  // by Close or by its idle time-out
  // Where nothing runs or waits in it, and something has run: since when.
  std::optional<std::chrono::steady_clock::time_point> idle_since() const;
  void Close();  // a running cell is ended

 private:
  class Sink;
  class Asker;
  struct Link;

  McpPythonSession(std::string handle, std::chrono::milliseconds idle_timeout, std::shared_ptr<Link> link,
                   std::shared_ptr<Session> session);

  const std::string handle_;
  const std::chrono::milliseconds idle_timeout_;
  const std::shared_ptr<Link> link_;
  const std::shared_ptr<Session> session_;
  TurnQueue turns_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_PYTHON_SESSION_H_
