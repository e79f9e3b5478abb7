// JSON of people, with the $-forms.
#include "gloveport/core/wire/cbor.h"
#include "gloveport/core/wire/value_json.h"

#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gloveport;
  (void)ParseJson(TextOf(data, size), {.allow_comments = true});
  const auto json = ParseJson(TextOf(data, size));
  if (!json) {
    PROMISE(!json.error().message.empty());
    return 0;
  }
  PROMISE(ParseJson(DumpJson(*json)));
  (void)FromPlainJson(*json);
  const auto value = FromJson(*json);
  if (!value) {
    PROMISE(!value.error().message.empty());
    return 0;
  }
  // What came in whole goes out whole.
  const auto again = FromJson(ToJson(*value));
  PROMISE(again && EncodeValue(*again) == EncodeValue(*value));
  return 0;
}
