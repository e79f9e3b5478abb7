// A frame from a session.
#include <variant>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/core/wire/messages.h"

#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gloveport;
  const auto message = wire::DecodeSessionMessage(TextOf(data, size));
  if (message) {
    const std::string encoded = wire::Encode(*message);
    const auto again = wire::DecodeSessionMessage(encoded);
    PROMISE(again && again->index() == message->index() && wire::Encode(*again) == encoded);
    if (const auto* done = std::get_if<wire::CellDone>(&*message)) (void)DecodeValue(done->error);
    if (const auto* call = std::get_if<wire::ToolCall>(&*message)) (void)DecodeValue(call->args);
  } else {
    PROMISE(message.error().code == ErrorCode::kProtocol && !message.error().message.empty());
  }
  (void)wire::DecodeHostMessage(TextOf(data, size));
  return 0;
}
