// ReplyBuilder: puts a ChatReply together from pieces as a server sends them, hands them on as deltas, cuts
// at stop sequences, and reads the action at the end. The same for a stream and for an answer that came as a
// whole.
//
// Not thread-safe; borrows the request. What a server may send too much of is limited by whoever reads it.
#ifndef GLOVEPORT_CORE_MODEL_REPLY_BUILDER_H_
#define GLOVEPORT_CORE_MODEL_REPLY_BUILDER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/model/code_stream.h"
#include "gloveport/core/model/model.h"
#include "gloveport/core/model/stop_text.h"

namespace gloveport {

class ReplyBuilder {
 public:
  static constexpr std::size_t kMaxCalls = 64;

  ReplyBuilder(const ChatRequest& request, ActionForm form);

  void AddContent(std::string_view piece);
  void AddReasoning(std::string_view piece);
  // Adds to tool call number `call`, from 0 in order; id and name count where they are not empty. False for a
  // number that is out of order or over kMaxCalls: the server sends nonsense.
  [[nodiscard]] bool AddCall(std::size_t call, std::string_view id, std::string_view name,
                             std::string_view arguments);

  void set_finish_reason(std::string reason) { reply_.finish_reason = std::move(reason); }
  void set_usage(const TokenUsage& usage) { reply_.usage = usage; }
  void set_model(std::string model) { reply_.model = std::move(model); }
  void set_opaque(std::string opaque) { reply_.opaque = std::move(opaque); }

  const ChatReply& reply() const { return reply_; }
  std::size_t calls() const { return calls_.size(); }
  std::string_view arguments(std::size_t call) const { return calls_[call].arguments; }
  bool handed_on() const { return handed_on_; }       // something reached the caller
  bool stopped() const { return cutter_.stopped(); }  // a stop sequence came: no more is wanted
  std::size_t bytes() const { return bytes_; }        // of text that was added

  // The reply; `model` names it where the server did not. The builder is then used up.
  ChatReply Finish(const std::string& model);

 private:
  struct Call {
    std::string id;
    std::string name;
    std::string arguments;
  };

  void HandOn(ChatDelta::Kind kind, std::string_view text);
  void HandOnParts(std::string_view json, CodeStream& parts);
  void TakeContent(std::string_view text);
  CodeAction ReadCalls() const;
  void TakeCalls();

  const ChatRequest& request_;
  StopCutter cutter_;
  CodeStream content_parts_;
  std::vector<CodeStream> call_parts_;
  std::vector<Call> calls_;
  ChatReply reply_;
  std::size_t bytes_ = 0;
  bool handed_on_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_REPLY_BUILDER_H_
