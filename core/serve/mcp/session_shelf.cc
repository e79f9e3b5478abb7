#include "gloveport/core/serve/mcp/session_shelf.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <vector>

#include "gloveport/core/serve/mcp/random_handle.h"

namespace gloveport {
namespace {

tl::unexpected<Error> Unknown() {
  return Fail(ErrorCode::kNotFound, "you have no session with this handle: it never was, or it has ended",
              "leave \"session\" out to start a fresh one, and define again what you need");
}

}  // namespace

void McpSessionShelf::DropEnded() {
  std::erase_if(places_, [](const auto& entry) { return entry.second.session->closed(); });
}

// Models often need no state and leave their handles: these would take all the room until they are idle for
// long.
bool McpSessionShelf::EndLeftAlone() {
  Places::node_type node;
  {
    const std::lock_guard lock(mutex_);
    auto oldest = places_.end();
    std::chrono::steady_clock::time_point since;
    for (auto at = places_.begin(); at != places_.end(); ++at) {
      const auto left = at->second.session->left_alone_since();
      if (!left || (oldest != places_.end() && *left >= since)) continue;
      oldest = at;
      since = *left;
    }
    if (oldest == places_.end()) return false;
    node = places_.extract(oldest);
  }
  node.mapped().session->Close();
  return true;
}

Result<McpSessionShelf::Place> McpSessionShelf::MakeRoom() {
  while (true) {
    auto place = TakeRoom();
    if (place || place.error().code != ErrorCode::kResourceExhausted || !EndLeftAlone()) return place;
  }
}

Result<McpSessionShelf::Place> McpSessionShelf::TakeRoom() {
  Place place;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Fail(ErrorCode::kClosed, "the connection is closed");
    DropEnded();
  }
  const McpServerLimits& limits = service_.limits();
  place.room_of_own = Share::Take(own_, limits.max_sessions_per_client);
  if (!place.room_of_own) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("you have {} sessions open, as many as you may", limits.max_sessions_per_client),
                "go on in one of them by its handle, or end one with reset_session and \"close\": true");
  }
  place.room = service_.TakeSession();
  if (!place.room) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("the server has {} sessions open, as many as it may", limits.max_sessions),
                "go on in one of yours by its handle, or try again when others have ended");
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
  const std::lock_guard lock(mutex_);
  DropEnded();
  const auto found = places_.find(handle);
  if (found == places_.end()) return Unknown();
  return found->second.session;
}

Status McpSessionShelf::Reset(std::string_view handle) {
  Places::node_type node;
  {
    const std::lock_guard lock(mutex_);
    DropEnded();
    node = places_.extract(std::string(handle));
  }
  if (node.empty()) return Unknown();
  Place place = std::move(node.mapped());
  place.session->Close();
  ASSIGN_OR_RETURN(place.session,
                   McpPythonSession::Open(service_.runtime(), service_.options(), std::string(handle)));
  auto put = Put(std::string(handle), std::move(place));
  if (!put) return tl::unexpected<Error>(std::move(put).error());
  return {};
}

Status McpSessionShelf::Close(std::string_view handle) {
  Places::node_type node;
  {
    const std::lock_guard lock(mutex_);
    DropEnded();
    node = places_.extract(std::string(handle));
  }
  if (node.empty()) return Unknown();
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
