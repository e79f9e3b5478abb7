// McpSessionShelf: the Python sessions of one client, by handles that nobody else knows and that are worth
// nothing in anybody else's hands. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_MCP_SESSION_SHELF_H_
#define GLOVEPORT_CORE_SERVE_MCP_SESSION_SHELF_H_

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "gloveport/core/serve/mcp/python_session.h"
#include "gloveport/core/serve/mcp/service.h"

namespace gloveport {

class McpSessionShelf {
 public:
  McpSessionShelf(McpService& service, std::size_t max_sessions)
      : service_(service), max_sessions_(max_sessions) {}
  ~McpSessionShelf() { CloseAll(); }

  // Where there is no room, this client's session goes that was idle for longest. kResourceExhausted where
  // code runs in all of them; the errors of Runtime::Open; kClosed after CloseAll.
  Result<std::shared_ptr<McpPythonSession>> Open();

  // kNotFound for a handle that is not this client's, or whose session has ended: of those only it is told
  // that they were ended to make room.
  Result<std::shared_ptr<McpPythonSession>> Find(std::string_view handle);

  // A fresh session under the handle, or none any more. What runs in the old one is ended. kNotFound as Find.
  Status Reset(std::string_view handle);
  Status Close(std::string_view handle);

  std::size_t size();
  void CloseAll();

 private:
  struct Place {
    Share room;  // of all clients'
    Share room_of_own;
    std::shared_ptr<McpPythonSession> session;
  };
  using Places = std::map<std::string, Place, std::less<>>;

  Places::node_type TakeOut(std::string_view handle);  // empty where there is none
  void DropEnded();                                    // with the lock held; they end on another thread
  tl::unexpected<Error> Unknown(std::string_view handle);
  Result<Place> TakeRoom();
  Result<Place> MakeRoom();
  bool EndIdle();  // false where there is none
  Result<std::shared_ptr<McpPythonSession>> Put(std::string handle, Place place);

  McpService& service_;
  const std::size_t max_sessions_;
  std::atomic<std::size_t> own_{0};
  std::mutex mutex_;
  Places places_;
  std::deque<std::string> made_room_;  // the latest handles that were ended for others
  bool closed_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_SESSION_SHELF_H_
