#include "protocol_peer.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace gloveport {
namespace {

constexpr std::chrono::seconds kPatience{20};

}  // namespace

ProtocolPeer::ProtocolPeer(Runtime& runtime, SessionProtocolOptions options) {
  ::signal(SIGPIPE, SIG_IGN);
  auto input = MakePipe();
  auto output = MakePipe();
  requests_ = std::move(input->write_end);
  server_input_ = std::move(input->read_end);
  replies_ = std::move(output->read_end);
  EXPECT_TRUE(SetNonBlocking(replies_.get()));
  server_output_ = std::move(output->write_end);
  options.input_fd = server_input_.get();
  options.output_fd = server_output_.get();
  served_ = std::async(std::launch::async, [this, &runtime, options] {
    Status status = ServeSessionProtocol(runtime, options);
    server_output_.reset();
    return status;
  });
}

ProtocolPeer::~ProtocolPeer() {
  CloseInput();
  CloseOutput();
}

void ProtocolPeer::Send(std::string_view line) {
  const std::string whole = std::string(line) + "\n";
  (void)WriteFull(requests_.get(), AsBytes(whole), Deadline::After(kPatience));
}

Json ProtocolPeer::Receive() {
  const Deadline deadline = Deadline::After(kPatience);
  while (true) {
    const auto end = received_.find('\n');
    if (end != std::string::npos) {
      auto parsed = ParseJson(std::string_view(received_).substr(0, end));
      received_.erase(0, end + 1);
      EXPECT_TRUE(parsed.has_value());
      return parsed ? *parsed : Json();
    }
    if (!WaitFor(replies_.get(), POLLIN, deadline)) return Json();
    // The last reply and the end may come in one read: what came is looked at first.
    const std::size_t before = received_.size();
    const auto more = ReadAvailable(replies_.get(), 65536, received_);
    if (received_.size() == before && (!more || !*more)) return Json();
  }
}

Json ProtocolPeer::ReplyTo(const Json& id) {
  const auto is_reply = [&](const Json& message) {
    return message.value("id", Json()) == id && message.contains("ok");
  };
  // It may have come before the reply to another request that was waited for.
  if (const auto early = std::ranges::find_if(others, is_reply); early != others.end()) {
    Json message = std::move(*early);
    others.erase(early);
    return message;
  }
  while (true) {
    Json message = Receive();
    if (message.is_null() || is_reply(message)) return message;
    others.push_back(std::move(message));
  }
}

Json ProtocolPeer::Event(std::string_view event) {
  while (true) {
    Json message = Receive();
    if (message.is_null() || message.value("event", "") == event) return message;
    others.push_back(std::move(message));
  }
}

bool ProtocolPeer::WaitForEnd() { return served_.wait_for(kPatience) == std::future_status::ready; }

}  // namespace gloveport
