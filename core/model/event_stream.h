// EventStream: the body of a streamed answer, handed event by event to who understands the protocol. A server
// that does not stream although it was asked to sends one JSON document instead, which is kept. Internal to
// core/model.
//
// Not thread-safe; borrows the handler.
#ifndef GLOVEPORT_CORE_MODEL_EVENT_STREAM_H_
#define GLOVEPORT_CORE_MODEL_EVENT_STREAM_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/http_message.h"
#include "gloveport/core/net/sse_parser.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

enum class StreamStep { kMore, kDone };

// What becomes of the events of one answer.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;

  // A try begins: forget what an earlier one brought. Not called any more once something was handed on.
  virtual void Begin() = 0;

  // kDone: the answer is whole, or no more of it is wanted; nothing more is read. An error is the event's
  // fault: its text is put into a kProtocol error.
  virtual Result<StreamStep> OnEvent(std::string_view name, const Json& data) = 0;

  // "data: [DONE]" came. False where the answer is not whole.
  virtual bool OnDone() = 0;

  // Whether the answer is whole although the stream has no end mark.
  virtual bool whole() const = 0;

  virtual bool handed_on() const = 0;     // whether the caller has seen some of the answer
  virtual std::size_t bytes() const = 0;  // of text so far

  // The error that an event reports, or nullptr. Here: a member "error", or an event of the name or type
  // "error".
  virtual const Json* ErrorIn(std::string_view name, const Json& data) const;
};

class EventStream {
 public:
  // `max_bytes` are those of a document, and of the text of all events together.
  EventStream(StreamHandler& handler, std::size_t max_bytes, SseLimits limits = {});

  void TakeHead(const HttpResponse& head);
  bool TakeBody(std::string_view piece);  // false: wants no more

  // The body has ended: in good order, or by `failure`.
  void End(const std::optional<Error>& failure);

  // After End: what came. A failure of the stream itself, or the body of a server that does not stream.
  struct Failure {
    Error error;
    bool again = false;  // another try may help, if nothing was handed on
  };
  const std::optional<Failure>& failure() const { return failure_; }
  bool is_document() const { return kind_ == Kind::kDocument; }
  std::string TakeDocument() { return std::move(document_); }

 private:
  enum class Kind { kUndecided, kEvents, kDocument };

  void Decide();
  Status TakeEvent(const SseEvent& event);
  Status Route(std::string_view piece);
  void FailWith(Error error);
  Status FailForServer(const Json& error);
  void CutBy(const std::optional<Error>& failure);

  StreamHandler& handler_;
  std::size_t max_bytes_;
  SseParser parser_;
  Kind kind_ = Kind::kUndecided;
  std::string type_;      // Content-Type
  std::string document_;  // all of it, or the beginning of a body whose kind is not known yet
  bool done_ = false;
  std::optional<Failure> failure_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_EVENT_STREAM_H_
