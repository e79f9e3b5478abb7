// Memory: the conversation of one run, and how it stays within a budget. Not thread-safe.
//
// It grows linearly. When it is over budget, the oldest observations give way to one line each first, then
// the oldest replies; the task and the latest turns stay whole.
#ifndef GLOVEPORT_CORE_AGENT_MEMORY_H_
#define GLOVEPORT_CORE_AGENT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gloveport/core/model/model.h"

namespace gloveport {

struct MemoryLimits {
  std::size_t max_bytes = 240'000;  // of all messages together; about four bytes make a token
  std::size_t whole_turns = 4;      // so many of the latest are never shortened
};

// One reply and what the model was told about it.
struct Turn {
  std::string reply;
  std::string observation;
  std::string brief_reply;  // what stands for them when there is no room
  std::string brief_observation;
};

class Memory {
 public:
  Memory(std::string system, std::string task, MemoryLimits limits = {});

  void Add(Turn turn);

  // System, task, then reply and observation in turns; no message is empty.
  std::vector<ChatMessage> Messages() const;
  std::size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    Turn turn;
    bool brief_observation = false;
    bool brief_reply = false;
  };
  void Compact();
  void Shorten(std::string& text, std::string& brief);

  MemoryLimits limits_;
  std::string system_;
  std::string task_;
  std::vector<Kept> turns_;
  std::size_t bytes_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_MEMORY_H_
