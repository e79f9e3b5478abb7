// Packets between host and template, both ways.
#include "gloveport/core/wire/template_messages.h"

#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gloveport;
  const auto packet = TextOf(data, size);
  if (const auto reply = wire::DecodeTemplateReply(packet))
    PROMISE(wire::DecodeTemplateReply(wire::Encode(*reply)));
  if (const auto start = wire::DecodeTemplateStart(packet))
    PROMISE(wire::DecodeTemplateStart(wire::Encode(*start)));
  (void)wire::DecodeTemplateRequest(packet);
  return 0;
}
