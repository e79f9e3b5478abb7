// Memory: the conversation of one run, and how it stays within a budget. Not thread-safe.
//
// It grows linearly. When it is over budget, the oldest observations give way to one line each first, then
// the oldest replies, then the oldest turns to a line each of a summary behind the task, of which the middle
// is left out when it is too long itself. The task, notes and the latest turns stay whole.
#ifndef GLOVEPORT_CORE_AGENT_MEMORY_H_
#define GLOVEPORT_CORE_AGENT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/model/model.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

struct MemoryLimits {
  std::size_t max_bytes = 240'000;  // of all messages together; about four bytes make a token
  std::size_t whole_turns = 4;      // so many of the latest are never shortened
  std::size_t max_summary = 8000;   // bytes of the summary
};

// One reply and what the model was told about it.
struct Turn {
  std::string reply;
  std::string observation;
  std::string brief_reply;  // what stands for them when there is no room
  std::string brief_observation;
  // Where the model acted by a tool call or structured output, and what its server wants to see again; they
  // go when the reply gives way to its brief form.
  std::optional<CodeAction> action = std::nullopt;
  std::string opaque = {};
};

class Memory {
 public:
  Memory(std::string system, std::string task, MemoryLimits limits = {});

  void Add(Turn turn);
  // Something the model is told besides, at the end of the last message to it.
  void AddNote(std::string_view note);

  // System, task, then reply and observation in turns; no message is empty.
  std::vector<ChatMessage> Messages() const;
  std::size_t bytes() const { return bytes_; }

  // All of it but the limits, as {"system", "task", "summary", "turns": [...]}, and back: kInvalidArgument
  // where that is none.
  Json Save() const;
  static Result<Memory> Load(const Json& saved, MemoryLimits limits = {});

 private:
  struct Kept {
    Turn turn;
    bool brief_observation = false;
    bool brief_reply = false;
    std::string notes;  // behind the observation
  };
  void Compact();
  void ShortenReply(Turn& turn);
  void Shorten(std::string& text, std::string& brief);
  void SumUpOldest();
  void AddToSummary(std::string line);
  std::string TaskText() const;  // with the summary

  MemoryLimits limits_;
  std::string system_;
  std::string task_;                  // with the notes behind it
  std::vector<std::string> summary_;  // of turns that are gone, a line each
  std::size_t summed_up_ = 0;         // turns that are gone
  std::size_t summary_bytes_ = 0;
  std::deque<Kept> turns_;
  std::size_t bytes_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_MEMORY_H_
