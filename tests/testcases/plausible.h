// A template and sessions that keep to the protocol, without Python and without any confinement, until the
// step at which a misdeed takes over.
#ifndef GLOVEPORT_TESTS_TESTCASES_PLAUSIBLE_H_
#define GLOVEPORT_TESTS_TESTCASES_PLAUSIBLE_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "speech.h"

namespace hostile {

constexpr int kControl = 3;

// A session's end of everything that the host gave it.
class Session {
 public:
  explicit Session(const std::vector<int>& fds);

  int socket() const { return socket_; }
  int own_event() const { return own_event_; }
  int peer_event() const { return peer_event_; }
  Rings& rings() { return *rings_; }

  void HandOver(std::string_view byte, const std::vector<int>& fds);
  void Send(std::string_view frame);                   // through the ring; waits for room
  void SendOnSocket(std::string_view frame);           // announced in the ring
  void PutRaw(std::string_view bytes);                 // into the ring, as they are
  void Announce() { PutRaw(std::string(4, '\xff')); }  // that a frame is on the socket
  void WakeHost();
  std::string Receive();  // the next frame of the ring; exits where the host has gone
  const std::string& last() const { return last_; }  // what was received last

 private:
  int socket_;
  int own_event_;
  int peer_event_;
  Rings* rings_;
  std::string last_;
  std::uint32_t written_ = 0;
  std::uint32_t taken_ = 0;
};

struct Cell {
  Session& session;
  std::uint32_t number;
};

// What a hostile child does in place of each step; what is not set goes as it should.
struct Misdeed {
  std::function<void()> start;                            // instead of the answer to the start packet
  std::function<void(const std::vector<int>&)> fork;      // instead of a fork; gets the descriptors
  std::function<void(Session&)> hand_over;                // instead of the hand-over
  std::function<void(Session&)> ready;                    // instead of Ready
  std::function<void(Session&, std::uint64_t)> question;  // instead of a reply; gets the number
  std::function<void(Cell)> cell;                         // instead of CellDone
};

std::string TemplateAnswer(bool ok, pid_t pid);
int PidfdOf(pid_t pid);
int MakeListener();  // a real notification listener of this process

// Runs until the host closes the control socket, or the misdeed ends it.
[[noreturn]] void Run(const Misdeed& misdeed);

}  // namespace hostile

#endif  // GLOVEPORT_TESTS_TESTCASES_PLAUSIBLE_H_
