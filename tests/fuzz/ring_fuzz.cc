// A ring whose other side writes anything into it between any two looks. The input is a list of steps.
#include <cstring>
#include <memory>
#include <string>

#include "gloveport/core/wire/ring.h"

#include "fuzz_input.h"

namespace {

class Steps {
 public:
  explicit Steps(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }
  std::uint32_t Take(std::size_t size) {
    std::uint32_t number = 0;
    size = std::min(size, bytes_.size());
    std::memcpy(&number, bytes_.data(), size);
    bytes_.remove_prefix(size);
    return number;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gloveport;
  static auto ring = std::make_unique<SharedRing>();
  std::memset(static_cast<void*>(ring.get()), 0, sizeof *ring);
  RingReader reader(*ring);
  RingWriter writer(*ring);
  Steps steps(TextOf(data, size));
  while (!steps.done()) {
    switch (steps.Take(1) % 8) {
      case 0:
        ring->head = steps.Take(4);
        break;
      case 1:
        ring->tail = steps.Take(4);
        break;
      case 2: {
        const std::uint32_t length = steps.Take(4);
        std::memcpy(ring->data + steps.Take(2) % (kRingBytes - 4), &length, 4);
        break;
      }
      case 3:
        (void)writer.TryWrite(std::string(steps.Take(2) % (kMaxRingFrame + 1), 'x'));
        break;
      case 4:
        (void)writer.TryWriteSocketMark();
        break;
      case 5:
        (void)writer.TakeSleeper();
        (void)reader.FallAsleep();
        break;
      default: {
        const auto record = reader.TryRead();
        if (record && *record) PROMISE((*record)->payload.size() <= kRingBytes);
        if (!record) return 0;  // the channel is given up
      }
    }
  }
  return 0;
}
