// An exchange that keeps what goes over it, for tests that wait for it.
#ifndef GLOVEPORT_TESTS_CORE_SERVE_MCP_RECORDED_EXCHANGE_H_
#define GLOVEPORT_TESTS_CORE_SERVE_MCP_RECORDED_EXCHANGE_H_

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "gloveport/core/serve/mcp/exchange.h"

namespace gloveport {

class RecordedExchange : public McpExchange {
 public:
  bool Send(std::string text) override;
  void Answer(McpReply reply) override;
  void EndUnanswered() override;

  Json AwaitReply();                  // the whole message; null where it ended without one
  Json AwaitSent(std::size_t index);  // the message that was sent as this one
  std::vector<Json> sent() const;
  bool answered() const;

  bool reads = true;  // else Send is told that nobody does

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Json> sent_;
  std::optional<Json> reply_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_SERVE_MCP_RECORDED_EXCHANGE_H_
