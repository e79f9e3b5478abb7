// FaultServer: a TCP server on 127.0.0.1 that plays a script, one scene for each connection, so that a test
// decides every byte and the moment at which a connection breaks. It knows just enough HTTP to read a
// request.
//
// Scenes run on one thread, in order; a connection beyond the last scene is closed without a word and
// counted.
#ifndef GLOVEPORT_TESTS_SUPPORT_FAULT_SERVER_FAULT_SERVER_H_
#define GLOVEPORT_TESTS_SUPPORT_FAULT_SERVER_FAULT_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

// The server's end of one connection, as a scene sees it. Every wait ends when the client or the test has
// gone.
class FaultPeer {
 public:
  FaultPeer(int socket, int stop) : socket_(socket), stop_(stop) {}

  // Head and body (by Content-Length) of one request, or what came before the client went or 1 MiB was
  // reached.
  std::string ReadRequest();
  void Send(std::string_view bytes);  // gives up silently when the client has gone
  void AwaitClose();                  // until the client closes; reads and drops what it sends
  void Drip(std::string_view bytes);  // again and again one byte, until the client closes
  void SendSlowly(std::string_view bytes, std::size_t piece);  // in pieces of this size, with pauses
  void Reset();                    // ends the connection with RST instead of an orderly end
  void EndSending();               // half-closes: the client sees an end, and may still send
  void Relay(std::uint16_t port);  // becomes a tunnel to another port on 127.0.0.1

 private:
  bool WaitReadable(int timeout_ms);  // false at the time limit, and when the server stops
  bool stopped() const;

  int socket_;
  int stop_;
};

class FaultServer {
 public:
  using Scene = std::function<void(FaultPeer& peer, const std::string& request)>;

  explicit FaultServer(std::vector<Scene> scenes);
  ~FaultServer();
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url(std::string_view path = "") const;

  std::vector<std::string> requests() const;  // as they came, one for each connection so far
  std::size_t connections() const { return requests().size(); }

 private:
  void Serve();

  std::vector<Scene> scenes_;
  UniqueFd listener_;
  UniqueFd stop_read_;
  UniqueFd stop_write_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

// A scene that answers with this status line's number, these header lines and this body, with its
// Content-Length.
FaultServer::Scene Answer(int status, std::string body, std::vector<std::string> header_lines = {});
FaultServer::Scene AnswerBytes(std::string bytes);  // exactly these, then an orderly end

// A port on 127.0.0.1 that refuses connections for as long as the object lives.
class RefusingPort {
 public:
  RefusingPort();
  std::uint16_t port() const { return port_; }

 private:
  std::uint16_t port_ = 0;
  UniqueFd socket_;  // bound, never listening
};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_SUPPORT_FAULT_SERVER_FAULT_SERVER_H_
