#include "gloveport/core/wire/channel.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Pair {
  Channel host;
  Channel session;
  RingMemory peer;  // what a hostile session could write into
};

UniqueFd Again(int fd) { return UniqueFd(::dup(fd)); }

Pair MakeRingPair() {
  auto sockets = MakeSocketPair();
  auto ring = RingMemory::Make();
  auto wake = MakeSocketPair();
  for (int fd : {sockets->first.get(), sockets->second.get(), wake->first.get(), wake->second.get()})
    EXPECT_TRUE(SetNonBlocking(fd));
  Pair pair{Channel(std::move(sockets->first)), Channel(std::move(sockets->second)),
            *RingMemory::Map(ring->second.get())};
  pair.session.Attach(RingEnd::ForSession(*RingMemory::Map(ring->second.get()), Again(wake->second.get()),
                                          Again(wake->second.get())));
  pair.host.Attach(
      RingEnd::ForHost(std::move(ring->first), Again(wake->first.get()), Again(wake->first.get())));
  return pair;
}

TEST(Channel, FramesOfEverySizeArriveInOrder) {
  Pair pair = MakeRingPair();
  std::thread echo([&] {
    while (true) {
      auto frame = pair.session.Receive(Deadline::After(seconds(20)));
      if (!frame || !pair.session.Send(*frame, Deadline::After(seconds(20)))) return;
      if (frame->empty()) return;
    }
  });
  std::mt19937 random(3);
  for (const std::size_t size : {1u, 100u, 32'768u, 32'769u, 200'000u, 5u, 3'000'000u, 2u}) {
    for (int i = 0; i < 20; ++i) {
      const std::string sent(size, static_cast<char>(random()));
      ASSERT_TRUE(pair.host.Send(sent, Deadline::After(seconds(20))));
      const auto back = pair.host.Receive(Deadline::After(seconds(20)));
      ASSERT_TRUE(back) << back.error().message;
      ASSERT_EQ(*back, sent);
    }
  }
  ASSERT_TRUE(pair.host.Send(""));
  EXPECT_EQ(*pair.host.Receive(Deadline::After(seconds(20))), "");
  echo.join();
}

TEST(Channel, AStreamOfFramesFillsTheRingAndNothingIsLost) {
  Pair pair = MakeRingPair();
  std::thread writer([&] {
    for (int i = 0; i < 20'000; ++i)
      ASSERT_TRUE(
          pair.session.Send(std::to_string(i) + std::string(i % 97, '.'), Deadline::After(seconds(30))));
  });
  for (int i = 0; i < 20'000; ++i) {
    const auto frame = pair.host.Receive(Deadline::After(seconds(30)));
    ASSERT_TRUE(frame);
    ASSERT_TRUE(frame->starts_with(std::to_string(i)));
  }
  writer.join();
}

TEST(Channel, TheEndOfThePeerIsNoticedBehindItsLastFrame) {
  Pair pair = MakeRingPair();
  ASSERT_TRUE(pair.session.Send("last"));
  pair.session.Close();
  EXPECT_EQ(*pair.host.Receive(Deadline::After(seconds(5))), "last");
  const auto end = pair.host.Receive(Deadline::After(seconds(5)));
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kClosed);
}

TEST(Channel, WaitingGivesUpAtTheDeadline) {
  Pair pair = MakeRingPair();
  const auto nothing = pair.host.Receive(Deadline::After(milliseconds(5)));
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::kDeadlineExceeded);
}

TEST(Channel, ANapEndsWithAFrameAndWithoutOne) {
  Pair pair = MakeRingPair();
  SharedRing& ring = pair.peer.rings().to_host;
  RingWriter writer(ring);
  RingReader reader(ring);
  EXPECT_FALSE(reader.Nap(std::chrono::microseconds(200)));
  EXPECT_EQ(ring.asleep, 0u);
  std::thread waker([&] {
    while (ring.asleep == static_cast<std::uint32_t>(Sleep::kAwake)) std::this_thread::yield();
    EXPECT_TRUE(*writer.TryWrite("up"));
    EXPECT_FALSE(writer.TakeSleeper()) << "one that naps needs no descriptor";
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(reader.Nap(std::chrono::microseconds(900'000)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(800));
  waker.join();
}

TEST(Channel, AfterAFrameTheOtherDescriptorsAreNoticedStill) {
  Pair pair = MakeRingPair();
  auto pipe = MakePipe();
  ASSERT_TRUE(pair.session.Send("x"));
  ASSERT_TRUE(pair.host.Receive(Deadline::After(seconds(20))));
  ASSERT_TRUE(WriteFull(pipe->write_end.get(), AsBytes("y"), Deadline::After(seconds(1))));
  pollfd other{pipe->read_end.get(), POLLIN, 0};
  const auto start = std::chrono::steady_clock::now();
  pair.host.Wait(std::span(&other, 1), Deadline::After(seconds(20)));
  EXPECT_EQ(other.revents, POLLIN);
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
}

TEST(Channel, AFullRingWithoutAReaderIsADeadlineAndNoHang) {
  Pair pair = MakeRingPair();
  Status sent;
  for (int i = 0; i < 10 && sent; ++i)
    sent = pair.host.Send(std::string(30'000, 'x'), Deadline::After(milliseconds(20)));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::kDeadlineExceeded);
}

TEST(Channel, ImpossiblePositionsAndLengthsAreProtocolErrors) {
  struct Attack {
    const char* what;
    std::uint32_t head;
    std::uint32_t length;
  };
  for (const Attack& attack :
       {Attack{"head beyond the ring", kRingBytes + 1, 4}, Attack{"half a header", 2, 0},
        Attack{"length beyond what is there", 100, 97}, Attack{"huge length", 100, 0x7FFFFFFF}}) {
    Pair pair = MakeRingPair();
    SharedRing& ring = pair.peer.rings().to_host;
    std::memcpy(ring.data, &attack.length, sizeof attack.length);
    ring.head.store(attack.head);
    const auto frame = pair.host.TryReceive();
    ASSERT_FALSE(frame) << attack.what;
    EXPECT_EQ(frame.error().code, ErrorCode::kProtocol) << attack.what;
  }
  Pair pair = MakeRingPair();
  pair.peer.rings().to_session.tail.store(
      0x8000'0000);  // the reader claims to have read what was never written
  const std::string half(kMaxRingFrame - 100, 'x');
  ASSERT_TRUE(pair.host.Send(half));
  ASSERT_TRUE(pair.host.Send(half));
  const Status third = pair.host.Send(half);  // there is room only if the reader has read
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::kProtocol);
}

TEST(Channel, AFrameOnTheSocketThatTheRingDidNotAnnounceIsAProtocolError) {
  Pair pair = MakeRingPair();
  ASSERT_TRUE(WriteFull(pair.session.fd(), AsBytes(std::string_view("\1\0\0\0x", 5)), Deadline::Never()));
  const auto frame = pair.host.Receive(Deadline::After(seconds(5)));
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code, ErrorCode::kProtocol);
}

TEST(Channel, AnAnnouncedLengthCostsNoMemoryAndABadOneIsRefused) {
  auto sockets = MakeSocketPair();
  ASSERT_TRUE(SetNonBlocking(sockets->first.get()));
  Channel host(std::move(sockets->first));
  ASSERT_TRUE(
      WriteFull(sockets->second.get(), AsBytes(std::string_view("\xff\xff\xff\x7f", 4)), Deadline::Never()));
  const auto frame = host.TryReceive();
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code, ErrorCode::kProtocol);
}

TEST(Channel, AHostileWriterWhileTheHostReadsNeverBreaksIt) {
  Pair pair = MakeRingPair();
  std::atomic<bool> stop{false};
  std::thread attacker([&] {
    std::mt19937 random(5);
    SharedRing& ring = pair.peer.rings().to_host;
    while (!stop) {
      ring.data[random() % kRingBytes] = static_cast<std::byte>(random());
      ring.head.store(random());
    }
  });
  int refused = 0;
  const Deadline deadline = Deadline::After(seconds(30));
  while (refused < 10'000 && !deadline.passed()) {
    const auto frame = pair.host.TryReceive();
    if (!frame) {
      ++refused;
    } else if (*frame) {
      EXPECT_LE((*frame)->size(), kRingBytes);
    }
  }
  stop = true;
  attacker.join();
  EXPECT_EQ(refused, 10'000);
}

}  // namespace
}  // namespace gloveport
