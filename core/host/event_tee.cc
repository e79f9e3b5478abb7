#include "gloveport/core/host/event_tee.h"

#include <utility>

namespace gloveport {
namespace {

class EventTee : public EventSink {
 public:
  EventTee(std::shared_ptr<EventSink> first, std::shared_ptr<EventSink> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  void OnSessionOpen(const SessionFacts& facts) override { Both(&EventSink::OnSessionOpen, facts); }
  void OnSessionClose(std::string_view session) override { Both(&EventSink::OnSessionClose, session); }
  void OnStateChange(std::string_view session, const StateChange& change) override {
    Both(&EventSink::OnStateChange, session, change);
  }
  void OnVariableSet(std::string_view session, std::string_view name, const Value& value) override {
    Both(&EventSink::OnVariableSet, session, name, value);
  }
  void OnFilePut(std::string_view session, std::string_view path, std::span<const std::byte> data) override {
    Both(&EventSink::OnFilePut, session, path, data);
  }
  void OnFilesAtEnd(std::string_view session, const std::vector<FileDigest>& files) override {
    Both(&EventSink::OnFilesAtEnd, session, files);
  }
  void OnFileRemoved(std::string_view session, std::string_view path) override {
    Both(&EventSink::OnFileRemoved, session, path);
  }
  void OnCellStart(std::string_view session, std::uint32_t cell, std::string_view code) override {
    Both(&EventSink::OnCellStart, session, cell, code);
  }
  void OnVerdict(std::string_view session, std::uint32_t cell, const Verdict& verdict) override {
    Both(&EventSink::OnVerdict, session, cell, verdict);
  }
  void OnOutput(std::string_view session, std::uint32_t cell, Stream stream, std::string_view text) override {
    Both(&EventSink::OnOutput, session, cell, stream, text);
  }
  void OnApprovalAsked(std::string_view session, std::uint32_t cell,
                       const ApprovalRequest& request) override {
    Both(&EventSink::OnApprovalAsked, session, cell, request);
  }
  void OnApprovalDecided(std::string_view session, std::uint32_t cell, const ApprovalRequest& request,
                         const ApprovalDecision& decision) override {
    Both(&EventSink::OnApprovalDecided, session, cell, request, decision);
  }
  void OnGrantRevoked(std::string_view session, std::string_view grant) override {
    Both(&EventSink::OnGrantRevoked, session, grant);
  }
  void OnToolStart(std::string_view session, std::uint32_t cell, std::uint64_t call, std::string_view tool,
                   const Value& arguments) override {
    Both(&EventSink::OnToolStart, session, cell, call, tool, arguments);
  }
  void OnToolProgress(std::string_view session, std::uint32_t cell, std::uint64_t call, std::string_view tool,
                      const ToolProgress& progress) override {
    Both(&EventSink::OnToolProgress, session, cell, call, tool, progress);
  }
  void OnToolCall(std::string_view session, std::uint32_t cell, const ToolCallRecord& call) override {
    Both(&EventSink::OnToolCall, session, cell, call);
  }
  void OnDisplay(std::string_view session, std::uint32_t cell, const Value& bundle) override {
    Both(&EventSink::OnDisplay, session, cell, bundle);
  }
  void OnRefusal(std::string_view session, std::uint32_t cell, const Refusal& refusal) override {
    Both(&EventSink::OnRefusal, session, cell, refusal);
  }
  void OnCellEnd(std::string_view session, const CellResult& result) override {
    Both(&EventSink::OnCellEnd, session, result);
  }
  bool wants_counters() const override { return first_->wants_counters() || second_->wants_counters(); }
  void OnFileOpen(std::string_view session, std::uint32_t cell, const FileOpen& open) override {
    Both(&EventSink::OnFileOpen, session, cell, open);
  }
  void OnImport(std::string_view session, std::uint32_t cell, std::string_view module,
                bool allowed) override {
    Both(&EventSink::OnImport, session, cell, module, allowed);
  }
  Status Commit() override {
    RETURN_IF_ERROR(first_->Commit());
    return second_->Commit();
  }

 private:
  template <typename Method, typename... Arguments>
  void Both(Method method, const Arguments&... arguments) {
    (*first_.*method)(arguments...);
    (*second_.*method)(arguments...);
  }

  const std::shared_ptr<EventSink> first_;
  const std::shared_ptr<EventSink> second_;
};

}  // namespace

std::shared_ptr<EventSink> Tee(std::shared_ptr<EventSink> first, std::shared_ptr<EventSink> second) {
  if (!first) return second;
  if (!second) return first;
  return std::make_shared<EventTee>(std::move(first), std::move(second));
}

}  // namespace gloveport
