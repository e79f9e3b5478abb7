#include "gloveport/interp/child/event_log.h"

#include <set>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/session_state.h"

namespace gloveport::child {
namespace {

constexpr std::size_t kMaxOpens = 256;
constexpr std::size_t kMaxRefusals = 64;
constexpr std::size_t kMaxTextBytes = 4096;

struct Seen {
  std::set<std::pair<std::string, bool>> opened;
  std::set<std::pair<std::string, std::string>> refused;
  std::int64_t more_opened = 0;
  std::int64_t more_refused = 0;
};

Seen& OfCell() {
  static auto* seen = new Seen();
  return *seen;
}

std::string Short(std::string text) {
  if (text.size() > kMaxTextBytes) text.resize(kMaxTextBytes);
  return ToValidUtf8(text);
}

// The GIL is kept: the audit hook must not let other threads run in the middle of what is audited. The
// message is small, and the host reads all the time.
void Send(const char* kind, const Value& details) {
  if (HostLink* link = State().link; link != nullptr)
    (void)link->Send(wire::Event{kind, EncodeValue(details)});
}

}  // namespace

void EventLog::BeginCell() { OfCell() = {}; }

void EventLog::Opened(const std::string& path, bool write) {
  Seen& seen = OfCell();
  if (seen.opened.size() >= kMaxOpens) {
    ++seen.more_opened;
    return;
  }
  std::string text = Short(path);
  if (!seen.opened.emplace(text, write).second) return;
  Send("open", Value::Object({{"path", std::move(text)}, {"write", write}}));
}

void EventLog::Refused(const std::string& rule, const std::string& what, const std::string& message) {
  Seen& seen = OfCell();
  if (seen.refused.size() >= kMaxRefusals) {
    ++seen.more_refused;
    return;
  }
  if (!seen.refused.emplace(rule, Short(what)).second) return;
  Send("refused", Value::Object({{"rule", rule}, {"what", Short(what)}, {"message", Short(message)}}));
}

void EventLog::EndCell() {
  const Seen& seen = OfCell();
  if (seen.more_opened > 0) Send("open", Value::Object({{"more", seen.more_opened}}));
  if (seen.more_refused > 0) Send("refused", Value::Object({{"more", seen.more_refused}}));
}

}  // namespace gloveport::child
