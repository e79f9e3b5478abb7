#include "gloveport/core/host/cell_evidence.h"

#include <fmt/core.h>

#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/cbor.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxListed = 200;          // files and refusals that one result lists
constexpr std::size_t kMaxListedText = 4096;     // bytes of a name or message in such a list
constexpr std::size_t kMaxOpens = 10'000;        // that a sink is told of
constexpr std::size_t kMaxOpensBytes = 8 << 20;  // of their paths
constexpr std::size_t kMaxEvents =
    100'000;  // the interpreter sends each only once, and a few hundred at most

// What a child says of itself, cut: valid UTF-8 stays so.
std::string ShortText(const Value& map, std::string_view key) {
  std::string text = map.TextOr(key, "");
  if (text.size() <= kMaxListedText) return text;
  text.resize(kMaxListedText);
  return ToValidUtf8(text);
}

std::string ModeName(bool write, bool create) { return create ? "create" : write ? "write" : "read"; }

std::string Written(const WitnessedCall& call) {
  return call.detail.empty() ? call.call : fmt::format("{}({})", call.call, call.detail);
}

}  // namespace

CellEvidence::CellEvidence(std::string_view session, std::uint32_t cell, EventSink* sink)
    : session_(session), cell_(cell), sink_(sink) {}

Status CellEvidence::Take(const wire::Event& event) {
  if (++events_ > kMaxEvents) return Fail(ErrorCode::kProtocol, "more events than an interpreter sends");
  const auto details = DecodeValue(event.details);
  if (!details || !details->is_map()) return Fail(ErrorCode::kProtocol, "an event that is no map");
  if (details->Find("more")) return {};
  if (event.kind == "open") OnOpen(*details);
  if (event.kind == "import") OnImport(*details);
  if (event.kind == "refused") {
    AddRefusal({"interpreter", ShortText(*details, "rule"), ShortText(*details, "what"),
                ShortText(*details, "message")});
  }
  return {};
}

void CellEvidence::OnOpen(const Value& details) {
  const std::string path = ShortText(details, "path");
  if (path.empty()) return;
  const bool write = details.BoolOr("write", false);
  const bool allowed = details.BoolOr("allowed", true);
  auto& files = write ? files_written_ : files_read_;
  if (allowed && files.size() < kMaxListed) files.insert(path);
  AddOpen({"interpreter", path, ModeName(write, details.BoolOr("create", false)), allowed});
}

void CellEvidence::OnImport(const Value& details) {
  const std::string module = ShortText(details, "module");
  if (sink_ && !module.empty()) sink_->OnImport(session_, cell_, module, details.BoolOr("allowed", true));
}

void CellEvidence::AddOpen(FileOpen open) {
  if (opens_seen_.size() >= kMaxOpens || opens_bytes_ > kMaxOpensBytes) {
    ++opens_not_listed_;
    return;
  }
  if (!opens_seen_.emplace(open.source, open.path, open.mode, open.allowed).second) return;
  opens_bytes_ += open.path.size();
  if (sink_) sink_->OnFileOpen(session_, cell_, open);
}

std::optional<std::string> CellEvidence::Take(SyscallWitness& witness, pid_t process) {
  for (WitnessedOpen& open : witness.TakeOpens(process)) {
    AddOpen({"kernel", std::move(open.path), ModeName(open.write, open.create), open.expected_allowed});
  }
  std::optional<std::string> violation;
  for (const WitnessedCall& call : witness.TakeRefused(process)) {
    if (call.violation) violation = Written(call);
    AddRefusal({"kernel", "syscall", call.call, fmt::format("the system call {} was refused", Written(call))},
               call.detail);
  }
  return violation;
}

// The same call with other arguments is another attempt.
void CellEvidence::AddRefusal(Refusal refusal, std::string_view detail) {
  if (refusal.what.size() > kMaxListedText)
    refusal.what = ToValidUtf8(refusal.what.substr(0, kMaxListedText));
  const std::string key = detail.empty() ? refusal.what : fmt::format("{}({})", refusal.what, detail);
  if (refusals_seen_.size() >= kMaxListed || !refusals_seen_.emplace(refusal.rule, key).second) return;
  if (sink_) sink_->OnRefusal(session_, cell_, refusal);
  refusals_.push_back(std::move(refusal));
}

void CellEvidence::Fill(Usage& usage) {
  usage.files_read.assign(files_read_.begin(), files_read_.end());
  usage.files_written.assign(files_written_.begin(), files_written_.end());
  usage.opens_not_listed = opens_not_listed_;
  usage.denied = std::move(refusals_);
}

}  // namespace gloveport
