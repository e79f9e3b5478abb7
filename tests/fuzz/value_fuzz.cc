// A value from a child: decoded, encoded again, shown as JSON and read back.
#include <string>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/core/wire/value_json.h"

#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gloveport;
  const auto value = DecodeValue(TextOf(data, size));
  if (!value) {
    PROMISE(value.error().code == ErrorCode::kProtocol && !value.error().message.empty());
    return 0;
  }
  const std::string encoded = EncodeValue(*value);
  const auto again = DecodeValue(encoded);
  PROMISE(again && EncodeValue(*again) == encoded);
  const std::string json = DumpJson(*value);
  const auto parsed = ParseJson(json, {.max_depth = 1000});
  PROMISE(parsed);
  (void)FromJson(*parsed);
  return 0;
}
