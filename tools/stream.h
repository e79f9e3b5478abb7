// Tools that give values one by one: an iterator in Python.
//
//   ToolStream<Row> rows(const std::string& table) {
//     auto cursor = std::make_shared<Cursor>(table);
//     return ToolStream<Row>([cursor](CallContext& context) -> Result<std::optional<Row>> { return
//     cursor->Next(); });
//   }
//
// makes rows(table: str) -> Iterator[dict[str, object]]. The cell gets values as they come: several at a time
// where they come fast, the first alone where they come slowly. A stream that the cell leaves before its end
// stays open until the cell's session has opened many others of the tool.
#ifndef GLOVEPORT_TOOLS_STREAM_H_
#define GLOVEPORT_TOOLS_STREAM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

template <typename T>
class ToolStream {
 public:
  using Item = T;
  // The next value, nothing at the end, or an error, which ends it. Called with the context of the call that
  // wants the value, from one thread at a time, not always the same.
  using Next = std::function<Result<std::optional<T>>(CallContext&)>;

  explicit ToolStream(Next next) : next_(std::move(next)) {}
  Next Take() && { return std::move(next_); }

 private:
  Next next_;
};

// The open streams of one tool. Thread-safe.
class ValueStreams {
 public:
  using Next = ToolStream<Value>::Next;
  static constexpr std::size_t kMaxItems = 64;           // that one answer has
  static constexpr std::size_t kMaxOpenPerSession = 16;  // beyond it the oldest is closed

  // {"id", "items"}: the first values, and by which number the others are to be had; None: these are all.
  Result<Value> Open(Next next, CallContext& context);
  // The same for a number that an earlier answer had. kNotFound for one that this session does not have open.
  Result<Value> Continue(std::int64_t id, CallContext& context);

 private:
  struct Stream {
    Next next;
    std::optional<Error> error;  // that came behind values which had to be given first
  };
  struct OfSession {
    std::int64_t last_id = 0;  // numbers count from 1 in each session, so that they repeat in a replay
    std::map<std::int64_t, Stream> open;
  };
  Result<Value> Answer(std::int64_t id, Stream stream, CallContext& context);
  void Keep(const std::string& session, std::int64_t id, Stream stream);

  std::mutex mutex_;
  std::map<std::string, OfSession> sessions_;
};

// What follows the name of a tool in calls that ask for more of its stream. Cells cannot define such a name.
inline constexpr std::string_view kContinuationSuffix = ".next";

// The tool that gives more of the streams of `tool`: NAME.next(stream: int).
std::shared_ptr<Tool> MakeContinuation(std::string_view tool, std::shared_ptr<ValueStreams> streams);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_STREAM_H_
