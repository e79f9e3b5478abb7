#include "gloveport/core/serve/mcp/stdio_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <thread>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/serve/line_reader.h"
#include "gloveport/core/serve/line_writer.h"
#include "gloveport/core/serve/mcp/message_reader.h"
#include "gloveport/core/serve/mcp/served_client.h"

namespace gloveport {
namespace {

constexpr std::chrono::seconds kLastWords{2};
// Of a client that does not read: above what all calls that one may make at once can bring, images included.
constexpr std::size_t kMaxLag = 512u << 20;

// Everything goes to the one output, in the order in which it comes.
class StdioExchange : public McpExchange {
 public:
  explicit StdioExchange(LineWriter& writer) : writer_(writer) {}
  bool Send(std::string text) override {
    writer_.Write(text);
    return !writer_.failed();
  }
  void Answer(McpReply reply) override { writer_.Write(reply.text); }
  void EndUnanswered() override {}

 private:
  LineWriter& writer_;
};

class StdioServer {
 public:
  StdioServer(McpService& service, LineWriter& writer)
      : service_(service),
        writer_(writer),
        exchange_(std::make_shared<StdioExchange>(writer)),
        client_(McpServedClient::Create(service, McpIdScope::kConnection)) {
    client_->SetOwnWay(exchange_);
  }
  ~StdioServer() { client_->Close(); }

  Status Run(LineReader& reader) {
    std::string line;
    while (true) {
      ASSIGN_OR_RETURN(const LineReader::Event event, reader.Next(line));
      switch (event) {
        case LineReader::Event::kLine:
          Take(line);
          break;
        case LineReader::Event::kTooLong:
          writer_.Write(ErrorReply(nullptr, RpcCode::kInvalidRequest,
                                   fmt::format("a message may have {} bytes",
                                               service_.limits().messages.max_message_bytes))
                            .text);
          break;
        case LineReader::Event::kEnd:
          ended_ = true;
          return {};
        case LineReader::Event::kStopped:
          return {};
      }
    }
  }

  // What runs may end, where the input has and the output has not.
  void Linger(std::chrono::milliseconds time) {
    if (!ended_ || writer_.failed()) return;
    (void)client_->WaitUntilIdle(Deadline::After(time));
  }

 private:
  void Take(const std::string& line) {
    if (Trim(line).empty()) return;
    auto message = ReadMcpMessage(line, service_.limits().messages);
    if (!message) return writer_.Write(message.error().text);
    (void)client_->Handle(std::move(*message), exchange_);
  }

  McpService& service_;
  LineWriter& writer_;
  const std::shared_ptr<StdioExchange> exchange_;
  const std::shared_ptr<McpServedClient> client_;
  bool ended_ = false;
};

void Signal(int fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(fd, &one, sizeof one);
}

}  // namespace

Status ServeMcpStdio(McpService& service, const McpStdioOptions& options) {
  UniqueFd own;  // readable once nobody reads the output
  if (options.stop_fd < 0) {
    own = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!own) return FailErrno("cannot make an eventfd for the MCP server", errno);
  }
  const int stop_fd = own ? own.get() : options.stop_fd;
  ASSIGN_OR_RETURN(const std::unique_ptr<LineWriter> writer,
                   LineWriter::Create(
                       options.output_fd, [stop_fd] { Signal(stop_fd); }, kMaxLag));
  Status status;
  {
    StdioServer server(service, *writer);
    LineReader reader(options.input_fd, stop_fd, service.limits().messages.max_message_bytes);
    status = server.Run(reader);
    if (status) server.Linger(options.linger);
    if (status && writer->lags())
      status = Fail(ErrorCode::kIo,
                    fmt::format("the client does not read: it is {} MiB of answers behind", kMaxLag >> 20));
  }
  writer->Flush(Deadline::After(kLastWords));
  return status;
}

}  // namespace gloveport
