// OutputOrder: tells what a cell writes and shows in the order in which it did.
//
// Text comes in pipes, displays in the channel, and the cell does not wait for either to be read: when the
// host reads "a" and "b" from the pipe, what was shown between them may still be in the channel. So text is
// kept until the channel was found empty, and each display says how much was written before it. That is the
// child's word, and concerns nothing but the order.
#ifndef GLOVEPORT_CORE_HOST_OUTPUT_ORDER_H_
#define GLOVEPORT_CORE_HOST_OUTPUT_ORDER_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "gloveport/core/host/event_sink.h"

namespace gloveport {

class OutputOrder {
 public:
  // `sink` may be null; both outlive this.
  OutputOrder(EventSink* sink, const std::string& session, std::uint32_t cell)
      : sink_(sink), session_(session), cell_(cell) {}

  // What was read from a pipe.
  void Add(Stream stream, std::string_view text);
  // Tells all of it.
  void Tell();
  // Tells what was written before this display, all where it does not say how much that is; takes the mark
  // off.
  void TellBefore(Value& display);

 private:
  struct Text {
    std::string untold;
    std::uint64_t told_bytes = 0;
  };
  void TellUpTo(Stream stream, std::uint64_t bytes);

  EventSink* sink_;
  const std::string& session_;
  std::uint32_t cell_;
  std::array<Text, 2> texts_;  // by Stream
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_OUTPUT_ORDER_H_
