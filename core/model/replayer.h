// Replayer: a model that plays a recording (recording.h).
#ifndef GLOVEPORT_CORE_MODEL_REPLAYER_H_
#define GLOVEPORT_CORE_MODEL_REPLAYER_H_

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gloveport/core/model/model.h"
#include "gloveport/core/model/recording.h"

namespace gloveport {

enum class ReplayMatch {
  kPrompt,  // a reply is given only to the request that it was recorded for
  kOrder,   // replies come in the order of the file, whatever is asked
};

class Replayer : public Model {
 public:
  // kNotFound or kIo where the file cannot be read, kInvalidArgument with file and line where it is
  // malformed.
  static Result<std::unique_ptr<Replayer>> Load(const std::filesystem::path& file, ReplayMatch match);

  Replayer(std::string source, std::vector<Exchange> exchanges, ReplayMatch match);

  const std::string& name() const override { return name_; }
  bool scripted() const override { return true; }
  ActionForm action_form() const override { return form_; }  // of the first exchange

  // What was recorded, be it a reply or an error. With kPrompt it is the first exchange left with this
  // request, so that agents that ran side by side may ask in another order; where there is none,
  // kInvalidArgument names the first difference from the next one. kClosed when none is left.
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  Result<std::size_t> Choose(const ChatRequest& request);

  const std::string source_;
  const std::string name_;
  const std::vector<Exchange> exchanges_;
  const ReplayMatch match_;
  const ActionForm form_;
  std::mutex mutex_;
  std::vector<bool> played_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_REPLAYER_H_
