#include "gloveport/core/serve/mcp/session_shelf.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "gloveport/core/serve/mcp/random_handle.h"

namespace gloveport {
namespace {

constexpr std::size_t kMostRemembered = 256;

}  // namespace

tl::unexpected<Error> McpSessionShelf::Unknown(std::string_view handle) {
  constexpr const char* kHint = "leave \"session\" out to start a fresh one, and define again what you need";
  const std::lock_guard lock(mutex_);
  if (std::find(made_room_.begin(), made_room_.end(), handle) != made_room_.end()) {
    return Fail(
        ErrorCode::kNotFound,
        fmt::format("this session was ended to make room for another one: at most {} stay", max_sessions_),
        kHint);
  }
  return Fail(ErrorCode::kNotFound, "you have no session with this handle: it never was, or it has ended",
              kHint);
}

void McpSessionShelf::DropEnded() {
  const auto ended = std::make_shared<std::vector<Place>>();
  for (auto at = places_.begin(); at != places_.end();) {
    if (!at->second.session->closed()) {
      ++at;
      continue;
    }
    ended->push_back(std::move(at->second));
    at = places_.erase(at);
  }
  if (ended->empty()) return;
  for (Place& place : *ended) {
    place.room = Share();
    place.room_of_own = Share();
  }
  // A process may take a moment to end; where no thread can be had, it ends here.
  (void)service_.threads().Post([ended] {});
}

// Models often need no state and leave their handles: these would take all the room until they are idle for
// long.
bool McpSessionShelf::EndIdle() {
  Places::node_type node;
  {
    const std::lock_guard lock(mutex_);
    auto oldest = places_.end();
    std::chrono::steady_clock::time_point since;
    for (auto at = places_.begin(); at != places_.end(); ++at) {
      const auto idle = at->second.session->idle_since();
      if (!idle || (oldest != places_.end() && *idle >= since)) continue;
      oldest = at;
      since = *idle;
    }
    if (oldest == places_.end()) return false;
    made_room_.push_back(oldest->first);
    if (made_room_.size() > kMostRemembered) made_room_.pop_front();
    node = places_.extract(oldest);
  }
  node.mapped().session->Close();
  return true;
}

Result<McpSessionShelf::Place> McpSessionShelf::MakeRoom() {
  while (true) {
    auto place = TakeRoom();
    if (place || place.error().code != ErrorCode::kResourceExhausted || !EndIdle()) return place;
  }
}

Result<McpSessionShelf::Place> McpSessionShelf::TakeRoom() {
  Place place;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Fail(ErrorCode::kClosed, "the connection is closed");
    DropEnded();
  }
  place.room_of_own = Share::Take(own_, max_sessions_);
  if (!place.room_of_own) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("you have {} sessions open, as many as you may, and code runs in all of them",
                            max_sessions_),
                "wait for a call, or end a session with reset_session and \"close\": true");
  }
  place.room = service_.TakeSession();
  if (!place.room) {
    return Fail(
        ErrorCode::kResourceExhausted,
        fmt::format("the server has {} sessions open, as many as it may", service_.limits().max_sessions),
        "try again when others have ended");
  }
  return place;
}

Result<std::shared_ptr<McpPythonSession>> McpSessionShelf::Put(std::string handle, Place place) {
  auto session = place.session;
  std::shared_ptr<McpPythonSession> old;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      old = session;
      session = nullptr;
    } else {
      places_.insert_or_assign(std::move(handle), std::move(place));
    }
  }
  if (!session) return Fail(ErrorCode::kClosed, "the connection is closed");
  return session;
}

Result<std::shared_ptr<McpPythonSession>> McpSessionShelf::Open() {
  ASSIGN_OR_RETURN(Place place, MakeRoom());
  ASSIGN_OR_RETURN(std::string handle, RandomHandle());
  ASSIGN_OR_RETURN(place.session, McpPythonSession::Open(service_.runtime(), service_.options(), handle));
  return Put(std::move(handle), std::move(place));
}

Result<std::shared_ptr<McpPythonSession>> McpSessionShelf::Find(std::string_view handle) {
  {
    const std::lock_guard lock(mutex_);
    DropEnded();
    const auto found = places_.find(handle);
    if (found != places_.end()) return found->second.session;
  }
  return Unknown(handle);
}

McpSessionShelf::Places::node_type McpSessionShelf::TakeOut(std::string_view handle) {
  const std::lock_guard lock(mutex_);
  DropEnded();
  return places_.extract(std::string(handle));
}

Status McpSessionShelf::Reset(std::string_view handle) {
  Places::node_type node = TakeOut(handle);
  if (node.empty()) return Unknown(handle);
  Place place = std::move(node.mapped());
  place.session->Close();
  ASSIGN_OR_RETURN(place.session,
                   McpPythonSession::Open(service_.runtime(), service_.options(), std::string(handle)));
  auto put = Put(std::string(handle), std::move(place));
  if (!put) return tl::unexpected<Error>(std::move(put).error());
  return {};
}

Status McpSessionShelf::Close(std::string_view handle) {
  Places::node_type node = TakeOut(handle);
  if (node.empty()) return Unknown(handle);
  node.mapped().session->Close();
  return {};
}

std::size_t McpSessionShelf::size() {
  const std::lock_guard lock(mutex_);
  DropEnded();
  return places_.size();
}

void McpSessionShelf::CloseAll() {
  Places places;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    places.swap(places_);
  }
  for (auto& [handle, place] : places) place.session->Close();
}

}  // namespace gloveport
