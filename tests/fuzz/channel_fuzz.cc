// What arrives over the socket, with and without rings: the first byte says how, the rest arrives in pieces.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/wire/channel.h"

#include "fuzz_input.h"

namespace {

using namespace gloveport;

constexpr std::size_t kMaxFrame = 1u << 16;

// Takes frames until there is none; false once the channel is of no more use.
bool Drain(Channel& channel) {
  while (true) {
    const auto frame = channel.TryReceive();
    if (!frame) return false;
    if (!*frame) return true;
    PROMISE((*frame)->size() <= kMaxFrame);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t how = data[0];
  std::string_view rest = TextOf(data + 1, size - 1);
  auto sockets = MakeSocketPair();
  PROMISE(sockets && SetNonBlocking(sockets->first.get()));
  Channel channel(std::move(sockets->first), kMaxFrame);
  if (how & 1) {
    auto memory = RingMemory::Make();
    auto wake = MakeSocketPair();
    PROMISE(memory && wake);
    SharedRings& rings = memory->first.rings();
    // The marks that announce frames on the socket.
    const std::uint32_t marks = how >> 1 & 15;
    for (std::uint32_t i = 0; i < marks * 4; ++i) rings.to_host.data[i] = std::byte{0xFF};
    rings.to_host.head = marks * 4;
    channel.Attach(
        RingEnd::ForHost(std::move(memory->first), std::move(wake->first), std::move(wake->second)));
  }
  while (!rest.empty()) {
    const std::size_t piece = std::min<std::size_t>(rest.size(), 1 + (how >> 5) * 7);
    PROMISE(::send(sockets->second.get(), rest.data(), piece, MSG_NOSIGNAL) == static_cast<ssize_t>(piece));
    rest.remove_prefix(piece);
    channel.Wait({}, Deadline::After(std::chrono::seconds(0)));
    if (!Drain(channel)) return 0;
  }
  sockets->second.reset();
  channel.Wait({}, Deadline::After(std::chrono::seconds(1)));
  PROMISE(!Drain(channel));
  return 0;
}
