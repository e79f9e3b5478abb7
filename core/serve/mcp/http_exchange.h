// McpHttpExchange: the answer to one HTTP request: one JSON text where it comes soon and alone, else a stream
// of server-sent events. Thread-safe; Wait and Stream are for the thread that answers.
#ifndef GLOVEPORT_CORE_SERVE_MCP_HTTP_EXCHANGE_H_
#define GLOVEPORT_CORE_SERVE_MCP_HTTP_EXCHANGE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "gloveport/core/net/http_server.h"
#include "gloveport/core/serve/mcp/exchange.h"

namespace gloveport {

class McpHttpExchange : public McpExchange {
 public:
  bool Send(std::string text) override;
  void Answer(McpReply reply) override;
  void EndUnanswered() override;

  // The reply, where it comes within the time and nothing was sent before it; else a stream has to be begun.
  std::optional<McpReply> Wait(std::chrono::milliseconds time);

  enum class End { kDone, kReaderGone };
  // Writes what comes until the reply, with comments in between that show whether somebody still reads.
  End Stream(HttpBodyWriter& writer);

 private:
  static constexpr std::size_t kMaxWaiting = 20'000;  // messages that nobody has taken

  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::string> waiting_;
  std::optional<McpReply> reply_;
  bool over_ = false;  // answered, ended, or nobody reads
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_HTTP_EXCHANGE_H_
