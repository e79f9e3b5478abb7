// What a session can do wrong while a cell runs: here a model's code may have become native code.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "misdeeds.h"

namespace hostile {
namespace {

Misdeed InCell(std::function<void(Cell)> cell) {
  Misdeed misdeed;
  misdeed.cell = std::move(cell);
  return misdeed;
}

void Done(Cell c) { c.session.Send(CellDone(c.number, "ok", Number(1))); }

Misdeed Frame(std::string frame) {
  return InCell([frame](Cell c) { c.session.Send(frame); });
}

Misdeed RawInRing(std::string bytes) {
  return InCell([bytes](Cell c) {
    c.session.PutRaw(bytes);
    WaitForever();
  });
}

Misdeed RawOnSocket(std::string bytes) {
  return InCell([bytes](Cell c) {
    c.session.Announce();
    WriteAll(c.session.socket(), bytes);
    WaitForever();
  });
}

std::string Nested(int depth) {
  std::string value;
  for (int i = 0; i < depth; ++i) value += Head(4, 1);
  return value + Number(1);
}

std::string ManyItems(std::size_t count) { return Head(4, count) + std::string(count, '\x01'); }

template <typename Make>
Misdeed Flood(Make make) {
  return InCell([make](Cell c) {
    for (std::uint64_t i = 0;; ++i) c.session.Send(make(c, i));
  });
}

// Any position, length and content at any moment.
void RewriteMemory(Cell c) {
  std::minstd_rand random(1);
  Ring& ring = c.session.rings().to_host;
  while (true) {
    switch (random() % 5) {
      case 0:
        ring.head = static_cast<std::uint32_t>(random() % (2 * kRingBytes));
        break;
      case 1:
        ring.asleep = static_cast<std::uint32_t>(random());
        break;
      case 2:
        ring.reader_cpu = static_cast<std::int32_t>(random());
        break;
      case 3:
        c.session.rings().to_session.tail = static_cast<std::uint32_t>(random());
        break;
      default:
        for (unsigned char& byte : ring.data) byte = static_cast<unsigned char>(random());
    }
    ::send(c.session.peer_event(), "w", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

// A frame that changes while it is read, between two that are both right.
void FlipFrame(Cell c) {
  const std::string one = FinalAnswer(c.number, Number(1));
  const std::string other = FinalAnswer(c.number, Text("x"));
  Ring& ring = c.session.rings().to_host;
  c.session.Send(one);
  while (true) {
    std::memcpy(ring.data + 4, one.data(), one.size());
    std::memcpy(ring.data + 4, other.data(), other.size());
  }
}

void CloseStreams(Cell) {
  ::close(1);
  ::close(2);
  WaitForever();
}

void ReopenStreams(Cell c) {
  for (const int fd : {1, 2}) {
    ::close(fd);
    ::open("/dev/null", O_RDWR);
  }
  Done(c);
}

void PassDescriptors(Cell c) {
  for (int i = 0; i < 20; ++i)
    SendWithFds(c.session.socket(), std::string(4, '\0'), std::vector<int>(50, c.session.socket()));
  WaitForever();
}

void StopItself(Cell) {
  ::raise(SIGSTOP);
  WaitForever();
}

void IgnoreEverything(Cell) {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_IGN);
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  WaitForever();
}

void AddPlainOnes(std::map<std::string, Misdeed>& all) {
  all["cell-silence"] = InCell([](Cell) { WaitForever(); });
  all["cell-mute"] = InCell([](Cell c) { c.session.Send(CellDone(c.number, "memory", Null())); });
  all["cell-exit"] = InCell([](Cell) { ::_exit(5); });
  all["cell-exit-zero"] = InCell([](Cell) { ::_exit(0); });
  all["cell-segv"] = InCell([](Cell) { ::signal(SIGSEGV, SIG_DFL), ::raise(SIGSEGV); });
  all["cell-sigkill"] = InCell([](Cell) { ::raise(SIGKILL); });
  all["cell-stop"] = InCell(StopItself);
  all["cell-ignore"] = InCell(IgnoreEverything);
  all["cell-spin"] = InCell([](Cell c) {
    while (c.session.socket() >= 0) {
    }
  });
  all["cell-done-exit"] = InCell([](Cell c) { Done(c), ::_exit(5); });
}

void AddFrames(std::map<std::string, Misdeed>& all) {
  all["frame-empty"] = Frame("");
  all["frame-garbage"] = Frame("\xff\xff");
  all["frame-unknown-type"] = Frame(Array({Number(99)}));
  all["frame-huge-type"] = Frame(Array({Number(~0ull)}));
  all["frame-few-fields"] = Frame(Array({Number(38), Number(0)}));
  all["frame-many-fields"] = Frame(Array({Number(33), Text("a"), Text("b"), Text("c")}));
  all["frame-bad-text"] = Frame(Array({Number(33), Head(3, 1) + "\xff", Text("b")}));
  all["frame-tail"] = Frame(SetupFailed("x") + "x");
  all["frame-setup-failed"] = Frame(SetupFailed("x"));
  all["frame-ready-again"] = Frame(Ready());
  all["frame-reply"] = Frame(Reply(1, Number(1)));
  all["frame-deep-message"] = Frame(Nested(20'000));
  all["frame-wide-cell"] = Frame(
      Array({Number(38), Number(1ull << 40), Text("ok"), Bytes(Null()), Text(""), Text(""), Bytes(Null())}));

  all["ring-long-record"] = RawInRing("\xff\xff\x00\x00");
  all["ring-half-record"] = RawInRing(std::string("\x10\x00\x00\x00\x81", 5));
  all["ring-short"] = RawInRing("\x01");
  all["ring-bad-head"] = InCell([](Cell c) {
    c.session.rings().to_host.head = 0x8000'0000;
    c.session.WakeHost();
    WaitForever();
  });
  all["ring-bad-tail"] = InCell([](Cell c) {
    c.session.rings().to_session.tail = 0x8000'0000;
    Done(c);
    WaitForever();
  });
  all["ring-full"] = InCell([](Cell c) {
    c.session.rings().to_session.tail -= kRingBytes;
    Done(c);
    WaitForever();
  });
  all["ring-rewrite"] = InCell(RewriteMemory);
  all["ring-flip"] = InCell(FlipFrame);
  all["ring-lying-cpu"] = InCell([](Cell c) {
    c.session.rings().to_host.reader_cpu = 4711;
    c.session.rings().to_session.reader_cpu = 4711;
    WaitForever();
  });

  all["socket-unannounced"] = InCell([](Cell c) {
    WriteAll(c.session.socket(), std::string("\x01\x00\x00\x00\xf6", 5));
    WaitForever();
  });
  all["socket-huge"] = RawOnSocket("\xff\xff\xff\xff");
  all["socket-half"] = RawOnSocket(std::string("\x10\x00\x00\x00\x81", 5));
  all["socket-half-exit"] = InCell([](Cell c) {
    c.session.Announce();
    WriteAll(c.session.socket(), std::string("\x10\x00\x00\x00\x81", 5));
    ::_exit(5);
  });
  all["socket-96-mib"] = InCell([](Cell c) { c.session.SendOnSocket(std::string(96u << 20, '\x9f')); });
  all["socket-96-mib-half"] = InCell([](Cell c) {
    c.session.Announce();
    WriteAll(c.session.socket(), std::string("\x00\x00\x00\x06", 4) + std::string(48u << 20, '\0'));
    WaitForever();
  });
  all["socket-drip"] = InCell([](Cell c) {
    c.session.Announce();
    WriteAll(c.session.socket(), std::string("\x00\x00\x00\x06", 4));
    while (WriteAll(c.session.socket(), "x")) {
    }
    ::_exit(0);
  });
}

void AddValues(std::map<std::string, Misdeed>& all) {
  all["value-deep"] = InCell([](Cell c) { c.session.Send(CellDone(c.number, "ok", Nested(201))); });
  all["value-at-depth"] = InCell([](Cell c) { c.session.Send(CellDone(c.number, "ok", Nested(200))); });
  all["value-very-deep"] = InCell([](Cell c) { c.session.Send(CellDone(c.number, "ok", Nested(30'000))); });
  all["value-many-items"] =
      InCell([](Cell c) { c.session.SendOnSocket(CellDone(c.number, "ok", ManyItems(3'990'000))); });
  all["value-too-many-items"] =
      InCell([](Cell c) { c.session.SendOnSocket(CellDone(c.number, "ok", ManyItems(4'000'001))); });
  all["value-announced"] =
      InCell([](Cell c) { c.session.Send(CellDone(c.number, "ok", Head(4, 1u << 31))); });
  all["value-nested-announced"] = InCell([](Cell c) {
    std::string value;
    for (int i = 0; i < 190; ++i) value += Head(4, 1'000'000);
    c.session.SendOnSocket(CellDone(c.number, "ok", value + std::string(2'000'000, '\x01')));
  });
  all["value-huge-int"] = InCell([](Cell c) {
    c.session.SendOnSocket(CellDone(c.number, "ok", Head(6, 2) + Bytes(std::string(200'000, 'x'))));
  });
  all["value-two"] = InCell([](Cell c) { c.session.Send(CellDone(c.number, "ok", Number(1) + Number(2))); });
  all["value-none"] = InCell([](Cell c) { c.session.Send(CellDone(c.number, "ok", "")); });
}

void AddForgeries(std::map<std::string, Misdeed>& all) {
  all["forged-cell"] = InCell([](Cell c) { c.session.Send(CellDone(c.number + 1, "ok", Number(1))); });
  all["forged-timeout"] = InCell([](Cell c) { c.session.Send(CellDone(c.number, "timeout", Number(1))); });
  all["forged-status"] = InCell([](Cell c) { c.session.Send(CellDone(c.number, "\x1b[1mok", Number(1))); });
  all["forged-done-twice"] = InCell([](Cell c) { Done(c), Done(c); });
  all["forged-answer-cell"] = InCell([](Cell c) { c.session.Send(FinalAnswer(c.number + 1, Number(1))); });
  all["forged-answer-second"] = InCell([](Cell c) {
    c.session.Send(FinalAnswer(c.number, Number(1)));
    c.session.Send(FinalAnswer(c.number, Number(2)));
    Done(c);
  });
  all["forged-answer-late"] = InCell([](Cell c) {
    Done(c);
    c.session.Send(FinalAnswer(c.number, Number(2)));
  });
  all["forged-answer-exit"] = InCell([](Cell c) {
    c.session.Send(FinalAnswer(c.number, Number(1)));
    ::_exit(5);
  });
  all["forged-display-cell"] = InCell([](Cell c) { c.session.Send(Display(c.number + 1, Map({}))); });
  all["forged-display-kind"] = InCell([](Cell c) { c.session.Send(Display(c.number, Number(1))); });
  all["forged-event-kind"] = InCell([](Cell c) { c.session.Send(Event("open", Number(1))); });
  all["forged-call-cell"] = InCell([](Cell c) { c.session.Send(ToolCall(1, c.number + 1, "wait")); });
  all["forged-call-twice"] = InCell([](Cell c) {
    c.session.Send(ToolCall(1, c.number, "wait"));
    c.session.Send(ToolCall(1, c.number, "wait"));
    WaitForever();
  });
  all["forged-call-unknown"] = InCell([](Cell c) {
    c.session.Send(ToolCall(1, c.number, "\x1b[1mno such tool"));
    c.session.Receive();
    Done(c);
  });
}

void AddFloods(std::map<std::string, Misdeed>& all) {
  all["flood-output"] = InCell([](Cell) {
    const std::string text(60'000, 'x');
    while (WriteAll(1, text)) {
    }
    ::_exit(0);
  });
  all["flood-calls"] = Flood([](Cell c, std::uint64_t i) { return ToolCall(i, c.number, "wait"); });
  all["flood-unknown-calls"] = InCell([](Cell c) {
    for (std::uint64_t i = 0;; ++i) {
      c.session.Send(ToolCall(i, c.number, "absent"));
      c.session.Receive();
    }
  });
  all["flood-unread-replies"] =
      Flood([](Cell c, std::uint64_t i) { return ToolCall(i, c.number, "absent"); });
  all["flood-large-calls"] = InCell([](Cell c) {
    const std::string args = Map({{"x", Bytes(std::string(8u << 20, 'x'))}});
    for (std::uint64_t i = 0;; ++i)
      c.session.SendOnSocket(Array({Number(34), Number(i), Number(c.number), Text("wait"), Bytes(args)}));
  });
  all["flood-events"] = Flood([](Cell, std::uint64_t i) {
    return Event("open", Map({{"path", Text(std::to_string(i))}}));
  });
  all["flood-large-events"] = InCell([](Cell c) {
    for (int i = 0;; ++i)
      c.session.SendOnSocket(
          Event("open", Map({{"path", Text(std::to_string(i) + std::string(8u << 20, 'x'))}})));
  });
  all["flood-displays"] = Flood([](Cell c, std::uint64_t) { return Display(c.number, Map({})); });
  all["flood-large-displays"] = InCell([](Cell c) {
    const std::string bundle = Map({{"text/plain", Text(std::string(8u << 20, 'x'))}});
    while (true) c.session.SendOnSocket(Display(c.number, bundle));
  });
  all["flood-answers"] = Flood([](Cell c, std::uint64_t) { return FinalAnswer(c.number, Number(1)); });
  all["flood-wakes"] = InCell([](Cell c) {
    while (true) ::send(c.session.peer_event(), "w", 1, MSG_NOSIGNAL);
  });
}

void AddDescriptors(std::map<std::string, Misdeed>& all) {
  all["fd-close-streams"] = InCell(CloseStreams);
  all["fd-reopen-streams"] = InCell(ReopenStreams);
  all["fd-close-channel"] = InCell([](Cell c) { ::close(c.session.socket()), WaitForever(); });
  all["fd-shut-channel"] = InCell([](Cell c) { ::shutdown(c.session.socket(), SHUT_WR), WaitForever(); });
  all["fd-close-wake"] =
      InCell([](Cell c) { ::close(c.session.peer_event()), ::close(c.session.own_event()), WaitForever(); });
  all["fd-shut-wake"] = InCell([](Cell c) { ::shutdown(c.session.peer_event(), SHUT_RDWR), WaitForever(); });
  all["fd-blocking"] = InCell([](Cell c) {
    for (const int fd : {1, 2, c.session.socket(), c.session.peer_event()})
      ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    WaitForever();
  });
  all["fd-pass"] = InCell(PassDescriptors);
}

}  // namespace

std::map<std::string, Misdeed> CellMisdeeds() {
  std::map<std::string, Misdeed> all;
  AddPlainOnes(all);
  AddFrames(all);
  AddValues(all);
  AddForgeries(all);
  AddFloods(all);
  AddDescriptors(all);
  return all;
}

}  // namespace hostile
