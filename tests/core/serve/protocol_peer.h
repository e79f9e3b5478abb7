// The client's side of a session protocol that is served on a thread of the test.
#ifndef GLOVEPORT_TESTS_CORE_SERVE_PROTOCOL_PEER_H_
#define GLOVEPORT_TESTS_CORE_SERVE_PROTOCOL_PEER_H_

#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/serve/session_protocol.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

class ProtocolPeer {
 public:
  explicit ProtocolPeer(Runtime& runtime, SessionProtocolOptions options = {});
  ~ProtocolPeer();

  void Send(std::string_view line);  // adds the line end
  Json Receive();                    // the next line; null when none comes within 20 s or at the end
  // The reply with this id; what arrives before it is kept in `others`.
  Json ReplyTo(const Json& id);
  Json Call(std::string_view line) {
    Send(line);
    return ReplyTo(ParseJson(line)->at("id"));
  }
  // The next event of this kind.
  Json Event(std::string_view event);

  void CloseInput() { requests_.reset(); }
  void CloseOutput() { replies_.reset(); }
  bool WaitForEnd();  // false when it still serves after 20 s

  std::vector<Json> others;

 private:
  UniqueFd requests_, replies_;
  UniqueFd server_input_, server_output_;
  std::string received_;
  std::future<Status> served_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_SERVE_PROTOCOL_PEER_H_
