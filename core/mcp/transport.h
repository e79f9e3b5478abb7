// McpTransport: how the messages of one connection to an MCP server travel. Implementations: StdioTransport,
// HttpTransport.
#ifndef GLOVEPORT_CORE_MCP_TRANSPORT_H_
#define GLOVEPORT_CORE_MCP_TRANSPORT_H_

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/net/http_message.h"

namespace gloveport {

// Told of what arrives, on threads of the transport or on one that sends; possibly on several at once. It
// must not close or destroy the transport.
struct McpReceiver {
  std::function<void(std::string_view text)> on_message;  // one JSON text, within the limit of bytes
  std::function<void(Error error)> on_lost;               // once: nothing further can be sent or will arrive
};

// One message on its way out.
struct McpOutgoing {
  std::string text;     // one line of JSON
  HttpHeaders headers;  // over HTTP, besides those of the transport
  // Of a request: whether its answer has arrived, so that nothing more need be waited for. Empty for others.
  std::function<bool()> answered;
  Deadline deadline = Deadline::Never();
  std::stop_token stop;
};

enum class McpTransportKind { kStdio, kHttp };

class McpTransport {
 public:
  virtual ~McpTransport() = default;  // Close()

  virtual McpTransportKind kind() const = 0;

  // Once, before anything is sent. kNotFound, kIo where the server cannot be started.
  virtual Status Open(McpReceiver receiver) = 0;

  // Over stdio: returns when the message has been written; the answer arrives on its own. Over HTTP: when the
  // exchange is over, and what the server answered has been given to the receiver. Thread-safe.
  // kClosed when the connection is lost or `stop` was requested, kDeadlineExceeded, kIo, kProtocol; kNotFound
  // when an HTTP server knows the session no more: the message was refused, not carried out.
  virtual Status Send(const McpOutgoing& message) = 0;

  // The revision that was agreed on, which HTTP says in a header; for a revision with a handshake, begins to
  // listen for what an HTTP server sends on its own.
  virtual void Agreed(std::string_view revision) = 0;

  // How the server ended, for messages: "it ended with exit code 1". Empty while it runs, or where that is
  // not known.
  virtual std::string Ending() const = 0;
  // What it last wrote to its standard error, on one line; may be empty. For people: it may hold secrets that
  // are not a session's.
  virtual std::string LastWords() const = 0;

  // Ends the connection in order and waits for it. Idempotent; not from the receiver.
  virtual void Close() = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_TRANSPORT_H_
