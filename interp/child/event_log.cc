#include "gloveport/interp/child/event_log.h"

#include <set>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/session_state.h"

namespace gloveport::child {
namespace {

constexpr std::size_t kMaxOpens = 256;
constexpr std::size_t kMaxVainOpens = 256;  // of files that are not there or not open: libraries look around
constexpr std::size_t kMaxImports = 256;
constexpr std::size_t kMaxRefusals = 64;
constexpr std::size_t kMaxTextBytes = 4096;

struct Seen {
  std::set<EventLog::Open> opened;
  std::set<EventLog::Open> vain;
  std::set<std::pair<std::string, bool>> imported;
  std::set<std::pair<std::string, std::string>> refused;
  std::int64_t more_opened = 0;
  std::int64_t more_imported = 0;
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

void EventLog::Opened(Open open) {
  Seen& seen = OfCell();
  auto& like = open.allowed ? seen.opened : seen.vain;
  if (like.size() >= (open.allowed ? kMaxOpens : kMaxVainOpens)) {
    ++seen.more_opened;
    return;
  }
  open.path = Short(open.path);
  const auto [at, is_new] = like.insert(std::move(open));
  if (!is_new) return;
  Send("open",
       Value::Object(
           {{"path", at->path}, {"write", at->write}, {"create", at->create}, {"allowed", at->allowed}}));
}

void EventLog::Imported(const std::string& module, bool allowed) {
  Seen& seen = OfCell();
  if (seen.imported.size() >= kMaxImports) {
    ++seen.more_imported;
    return;
  }
  const auto [at, is_new] = seen.imported.emplace(Short(module), allowed);
  if (is_new) Send("import", Value::Object({{"module", at->first}, {"allowed", at->second}}));
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
  if (seen.more_imported > 0) Send("import", Value::Object({{"more", seen.more_imported}}));
  if (seen.more_refused > 0) Send("refused", Value::Object({{"more", seen.more_refused}}));
}

}  // namespace gloveport::child
