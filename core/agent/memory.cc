#include "gloveport/core/agent/memory.h"

#include <utility>

namespace gloveport {
namespace {

// Endpoints refuse messages without content.
std::string NotEmpty(std::string text) { return text.empty() ? "(nothing)" : std::move(text); }

}  // namespace

Memory::Memory(std::string system, std::string task, MemoryLimits limits)
    : limits_(limits), system_(NotEmpty(std::move(system))), task_(NotEmpty(std::move(task))) {
  bytes_ = system_.size() + task_.size();
}

void Memory::Add(Turn turn) {
  turn.reply = NotEmpty(std::move(turn.reply));
  turn.observation = NotEmpty(std::move(turn.observation));
  bytes_ += turn.reply.size() + turn.observation.size();
  turns_.push_back({std::move(turn)});
  Compact();
}

std::vector<ChatMessage> Memory::Messages() const {
  std::vector<ChatMessage> messages = {{Role::kSystem, system_}, {Role::kUser, task_}};
  messages.reserve(2 + 2 * turns_.size());
  for (const Kept& kept : turns_) {
    messages.push_back({Role::kAssistant, kept.turn.reply});
    messages.push_back({Role::kUser, kept.turn.observation});
  }
  return messages;
}

void Memory::Compact() {
  const std::size_t old = turns_.size() > limits_.whole_turns ? turns_.size() - limits_.whole_turns : 0;
  for (std::size_t i = 0; i < old && bytes_ > limits_.max_bytes; ++i) {
    if (!std::exchange(turns_[i].brief_observation, true))
      Shorten(turns_[i].turn.observation, turns_[i].turn.brief_observation);
  }
  for (std::size_t i = 0; i < old && bytes_ > limits_.max_bytes; ++i) {
    if (!std::exchange(turns_[i].brief_reply, true))
      Shorten(turns_[i].turn.reply, turns_[i].turn.brief_reply);
  }
}

void Memory::Shorten(std::string& text, std::string& brief) {
  if (brief.empty() || brief.size() >= text.size()) return;
  bytes_ -= text.size() - brief.size();
  text = std::move(brief);
}

}  // namespace gloveport
