#include "gloveport/core/agent/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "gloveport/core/agent/observation.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMostOfSummaryLine = 200;
constexpr std::size_t kSummaryHead = 3;  // lines of the oldest turns that stay

std::string WithNotes(const std::string& text, const std::string& notes) {
  return notes.empty() ? text : text + "\n\n" + notes;
}

std::size_t ReplyBytes(const Turn& turn) {
  return turn.reply.size() + turn.opaque.size() +
         (turn.action ? turn.action->thought.size() + turn.action->code.size() : 0);
}

// As a model writes it that acts by text.
std::string ReplyText(const Turn& turn) {
  if (!turn.action) return turn.reply;
  // Structured output is reply and action in one.
  return ActionText(turn.action->form == ActionForm::kJson ? "" : turn.reply, *turn.action);
}

std::string OneLine(std::string_view text) {
  std::string line;
  for (const std::string_view part : SplitLines(text)) {
    if (Trim(part).empty()) continue;
    line += (line.empty() ? "" : " ") + std::string(Trim(part));
    if (line.size() > kMostOfSummaryLine) break;
  }
  if (line.size() <= kMostOfSummaryLine) return line;
  line.resize(kMostOfSummaryLine);
  return ToValidUtf8(line) + "...";
}

// Endpoints refuse messages without content.
std::string NotEmpty(std::string text) { return text.empty() ? "(nothing)" : std::move(text); }

}  // namespace

Memory::Memory(std::string system, std::string task, MemoryLimits limits)
    : limits_(limits), system_(NotEmpty(std::move(system))), task_(NotEmpty(std::move(task))) {
  bytes_ = system_.size() + task_.size();
}

void Memory::Add(Turn turn) {
  if (!turn.action) turn.reply = NotEmpty(std::move(turn.reply));
  turn.observation = NotEmpty(std::move(turn.observation));
  bytes_ += ReplyBytes(turn) + turn.observation.size();
  turns_.push_back({std::move(turn)});
  Compact();
}

void Memory::AddNote(std::string_view note) {
  std::string& text = turns_.empty() ? task_ : turns_.back().notes;
  const std::size_t before = text.size();
  if (!text.empty()) text += "\n\n";
  text += note;
  bytes_ += text.size() - before;
}

std::string Memory::TaskText() const {
  if (summary_.empty()) return task_;
  std::string text = task_ + "\n\n# Earlier steps, in short\n";
  const std::size_t left_out = summed_up_ - summary_.size();
  for (std::size_t i = 0; i < summary_.size(); ++i) {
    if (i == kSummaryHead && left_out > 0)
      text += fmt::format("({} left out here)\n", Counted(left_out, "step is", "steps are"));
    text += summary_[i] + "\n";
  }
  return text;
}

std::vector<ChatMessage> Memory::Messages() const {
  std::vector<ChatMessage> messages = {{Role::kSystem, system_}, {Role::kUser, TaskText()}};
  messages.reserve(2 + 2 * turns_.size());
  for (const Kept& kept : turns_) {
    messages.push_back({Role::kAssistant, kept.turn.reply, kept.turn.action, kept.turn.opaque});
    messages.push_back({Role::kUser, WithNotes(kept.turn.observation, kept.notes)});
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
    if (!std::exchange(turns_[i].brief_reply, true)) ShortenReply(turns_[i].turn);
  }
  for (std::size_t i = 0; i < old && bytes_ > limits_.max_bytes; ++i) SumUpOldest();
}

// Notes are the host's own words: they move to the task as they are.
void Memory::SumUpOldest() {
  const Kept oldest = std::move(turns_.front());
  turns_.pop_front();
  bytes_ -= ReplyBytes(oldest.turn) + oldest.turn.observation.size() + oldest.notes.size();
  AddToSummary(fmt::format("{}. {} => {}", summed_up_ + 1, OneLine(ReplyText(oldest.turn)),
                           OneLine(oldest.turn.observation)));
  if (oldest.notes.empty()) return;
  task_ += "\n\n" + oldest.notes;
  bytes_ += 2 + oldest.notes.size();
}

// How a run began and what it did last tell more than what is between.
void Memory::AddToSummary(std::string line) {
  ++summed_up_;
  summary_bytes_ += line.size();
  bytes_ += line.size();
  summary_.push_back(std::move(line));
  while (summary_bytes_ > limits_.max_summary && summary_.size() > kSummaryHead + 1) {
    const auto gone = summary_.begin() + std::ptrdiff_t{kSummaryHead};
    summary_bytes_ -= gone->size();
    bytes_ -= gone->size();
    summary_.erase(gone);
  }
}

Json Memory::Save() const {
  Json turns = Json::array();
  for (const Kept& kept : turns_) {
    turns.push_back({{"reply", ReplyText(kept.turn)},
                     {"observation", kept.turn.observation},
                     {"brief_reply", kept.turn.brief_reply},
                     {"brief_observation", kept.turn.brief_observation},
                     {"notes", kept.notes}});
  }
  return {{"system", system_},
          {"task", task_},
          {"summary", summary_},
          {"summed_up", summed_up_},
          {"turns", turns}};
}

Result<Memory> Memory::Load(const Json& saved, MemoryLimits limits) {
  const auto turns = saved.is_object() ? saved.find("turns") : saved.end();
  if (!saved.is_object() || turns == saved.end() || !turns->is_array()) {
    return Fail(ErrorCode::kInvalidArgument,
                "a saved memory must be an object with \"system\", \"task\" and \"turns\"");
  }
  Memory memory(TextOf(saved, "system"), TextOf(saved, "task"), limits);
  for (const Json& line : MemberOf(saved, "summary")) memory.AddToSummary(TextOf(&line));
  memory.summed_up_ = std::max<std::size_t>(memory.summary_.size(), CountOf(saved, "summed_up"));
  for (const Json& turn : *turns) {
    memory.Add({.reply = TextOf(turn, "reply"),
                .observation = TextOf(turn, "observation"),
                .brief_reply = TextOf(turn, "brief_reply"),
                .brief_observation = TextOf(turn, "brief_observation")});
    if (const std::string notes = TextOf(turn, "notes"); !notes.empty()) memory.AddNote(notes);
  }
  return memory;
}

void Memory::ShortenReply(Turn& turn) {
  if (turn.action) {
    bytes_ -= ReplyBytes(turn);
    turn.reply = NotEmpty(ReplyText(turn));
    turn.action.reset();
    turn.opaque.clear();
    bytes_ += turn.reply.size();
  }
  Shorten(turn.reply, turn.brief_reply);
}

void Memory::Shorten(std::string& text, std::string& brief) {
  if (brief.empty() || brief.size() >= text.size()) return;
  bytes_ -= text.size() - brief.size();
  text = std::move(brief);
}

}  // namespace gloveport
