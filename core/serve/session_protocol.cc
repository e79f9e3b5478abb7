#include "gloveport/core/serve/session_protocol.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>

#include "gloveport/core/serve/connection.h"
#include "gloveport/core/serve/line_reader.h"
#include "gloveport/core/serve/line_writer.h"

namespace gloveport {
namespace {

constexpr std::chrono::seconds kLastWords{2};  // for replies of requests that the end of the input cut short

void AnswerLongLine(Outbox& outbox, std::string_view beginning, std::size_t limit) {
  outbox.Failed(Request::FindId(beginning), "resource_exhausted",
                fmt::format("the line is longer than {} bytes and was dropped", limit),
                "send large data in several files, or put it into a work folder of the host");
}

Status ReadRequests(LineReader& reader, Connection& connection, Outbox& outbox, std::size_t max_line_bytes) {
  std::string line;
  while (true) {
    ASSIGN_OR_RETURN(const LineReader::Event event, reader.Next(line));
    switch (event) {
      case LineReader::Event::kLine:
        connection.Handle(line);
        break;
      case LineReader::Event::kTooLong:
        AnswerLongLine(outbox, line, max_line_bytes);
        break;
      case LineReader::Event::kEnd:
      case LineReader::Event::kStopped:
        return {};
    }
  }
}

}  // namespace

Status ServeSessionProtocol(Runtime& runtime, const SessionProtocolOptions& options) {
  const UniqueFd gone(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));  // readable once nobody reads the output
  if (!gone) return FailErrno("cannot make an eventfd for the session protocol", errno);
  const auto on_failure = [&gone] {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = ::write(gone.get(), &one, sizeof one);
  };
  ASSIGN_OR_RETURN(const std::unique_ptr<LineWriter> writer,
                   LineWriter::Create(options.output_fd, on_failure));
  Outbox outbox(*writer);
  Status status;
  {
    Connection connection(runtime, outbox, options.max_sessions, options.add_tools, options.questions);
    LineReader reader(options.input_fd, gone.get(), options.max_line_bytes);
    status = ReadRequests(reader, connection, outbox, options.max_line_bytes);
    connection.CloseInput();
    if (status) connection.WaitUntilIdle(Deadline::After(options.linger), gone.get());
  }  // ends every session
  writer->Flush(Deadline::After(kLastWords));
  return status;
}

}  // namespace gloveport
