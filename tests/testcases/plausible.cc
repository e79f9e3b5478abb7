#include "plausible.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace hostile {
namespace {

// The number behind a text key, anywhere in a packet of the host; 0 where there is none.
std::uint64_t NumberAfter(std::string_view packet, std::string_view key) {
  const auto found = packet.find(Text(key));
  if (found == std::string_view::npos) return 0;
  std::size_t at = found + Text(key).size();
  const unsigned low = static_cast<unsigned char>(packet[at++]) & 31;
  if (low < 24) return low;
  std::uint64_t number = 0;
  for (int bytes = 1 << (low - 24); bytes > 0; --bytes)
    number = number << 8 | static_cast<unsigned char>(packet[at++]);
  return number;
}

// [1, cell, code] or [3, id, op, args]: the type and the number behind it.
struct Command {
  unsigned type;
  std::uint64_t number;
};

Command Parse(std::string_view frame) {
  if (frame.size() < 3) ::_exit(9);
  const unsigned low = static_cast<unsigned char>(frame[2]) & 31;
  std::uint64_t number = low;
  if (low >= 24) {
    number = 0;
    for (int i = 0; i < 1 << (low - 24); ++i) number = number << 8 | static_cast<unsigned char>(frame[3 + i]);
  }
  return {static_cast<unsigned char>(frame[1]), number};
}

[[noreturn]] void RunSession(const Misdeed& misdeed, const std::vector<int>& fds) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  ::close(kControl);
  ::dup2(fds[1], 1);
  ::dup2(fds[2], 2);
  ::close(fds[1]);
  ::close(fds[2]);
  Session session(fds);
  if (misdeed.hand_over) {
    misdeed.hand_over(session);
  } else {
    session.HandOver("H", {MakeListener(), ::open("/", O_PATH | O_DIRECTORY)});
  }
  if (misdeed.ready) {
    misdeed.ready(session);
  } else {
    session.Send(Ready());
  }
  while (true) {
    const Command command = Parse(session.Receive());
    const auto cell = static_cast<std::uint32_t>(command.number);
    if (command.type == 3 && misdeed.question) {
      misdeed.question(session, command.number);
    } else if (command.type == 3) {
      session.Send(Reply(command.number, Null()));
    } else if (command.type == 1 && misdeed.cell) {
      misdeed.cell({session, cell});
    } else if (command.type == 1) {
      session.Send(CellDone(cell, "ok", Number(cell)));
    }
  }
}

void AnswerFork(const Misdeed& misdeed, const std::vector<int>& fds) {
  if (misdeed.fork) return misdeed.fork(fds);
  const pid_t child = ::fork();
  if (child == 0) RunSession(misdeed, fds);
  const int pidfd = PidfdOf(child);
  SendWithFds(kControl, TemplateAnswer(true, child), {pidfd});
  ::close(pidfd);
}

void AnswerReap(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  SendWithFds(kControl, Map({{"ok", Bool(true)}, {"status", Number(static_cast<std::uint64_t>(status))}}),
              {});
}

}  // namespace

Session::Session(const std::vector<int>& fds) : socket_(fds[0]), own_event_(fds[4]), peer_event_(fds[5]) {
  void* memory = ::mmap(nullptr, sizeof(Rings), PROT_READ | PROT_WRITE, MAP_SHARED, fds[3], 0);
  rings_ = static_cast<Rings*>(memory);
  ::close(fds[3]);
}

void Session::HandOver(std::string_view byte, const std::vector<int>& fds) {
  SendWithFds(socket_, byte, fds);
  for (const int fd : fds) ::close(fd);
}

void Session::WakeHost() {
  if (rings_->to_host.asleep.exchange(0) != 0) ::send(peer_event_, "w", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Session::PutRaw(std::string_view bytes) {
  Ring& ring = rings_->to_host;
  while (kRingBytes - (written_ - ring.tail.load()) < bytes.size()) {
    pollfd entry{socket_, 0, 0};
    if (::poll(&entry, 1, 1) == 1) ::_exit(0);  // the host has gone
  }
  for (const char byte : bytes) ring.data[written_++ % kRingBytes] = static_cast<unsigned char>(byte);
  ring.head.store(written_);
  WakeHost();
}

void Session::Send(std::string_view frame) {
  std::string bytes(4, '\0');
  const auto size = static_cast<std::uint32_t>(frame.size());
  std::memcpy(bytes.data(), &size, 4);
  PutRaw(bytes + std::string(frame));
}

void Session::SendOnSocket(std::string_view frame) {
  Announce();
  const auto size = static_cast<std::uint32_t>(frame.size());
  if (!WriteAll(socket_, {reinterpret_cast<const char*>(&size), 4}) || !WriteAll(socket_, frame)) ::_exit(0);
}

std::string Session::Receive() {
  Ring& ring = rings_->to_session;
  while (ring.head.load() == taken_) {
    ring.asleep.store(1);
    pollfd entries[2] = {{socket_, 0, 0}, {own_event_, POLLIN, 0}};
    ::poll(entries, 2, 5);
    if (entries[0].revents != 0) ::_exit(0);
    char byte;
    if (entries[1].revents & POLLIN) (void)!::read(own_event_, &byte, 1);
  }
  const auto take = [&] { return static_cast<char>(ring.data[taken_++ % kRingBytes]); };
  std::string size_bytes{take(), take(), take(), take()};
  std::uint32_t size = 0;
  std::memcpy(&size, size_bytes.data(), 4);
  std::string frame;
  if (size == kOnSocket) ::_exit(8);  // no test sends that much
  for (std::uint32_t i = 0; i < size; ++i) frame.push_back(take());
  ring.tail.store(taken_);
  last_ = frame;
  return frame;
}

std::string TemplateAnswer(bool ok, pid_t pid) {
  return Map({{"ok", Bool(ok)},
              {"pid", Number(static_cast<std::uint64_t>(pid))},
              {"error_code", Text("confinement_unavailable")},
              {"message", Text("it does not want to")},
              {"hint", Text("ask another")}});
}

int PidfdOf(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

int MakeListener() {
  sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program{1, allow};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return static_cast<int>(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

void Run(const Misdeed& misdeed) {
  std::vector<int> fds;
  if (ReceiveWithFds(kControl, fds).empty()) ::_exit(1);
  if (misdeed.start) {
    misdeed.start();
  } else {
    const int self = PidfdOf(::getpid());
    SendWithFds(kControl, TemplateAnswer(true, 1), {self});
    ::close(self);
  }
  while (true) {
    fds.clear();
    const std::string packet = ReceiveWithFds(kControl, fds);
    if (packet.empty()) ::_exit(0);
    if (packet.find(Text("reap")) != std::string::npos) {
      AnswerReap(static_cast<pid_t>(NumberAfter(packet, "pid")));
    } else {
      AnswerFork(misdeed, fds);
      for (const int fd : fds) ::close(fd);
    }
  }
}

}  // namespace hostile
