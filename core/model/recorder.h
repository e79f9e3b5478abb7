// Recorder: a model that writes down what another one is asked and says (recording.h). The other way round:
// Replayer.
#ifndef GLOVEPORT_CORE_MODEL_RECORDER_H_
#define GLOVEPORT_CORE_MODEL_RECORDER_H_

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

class Recorder : public Model {
 public:
  // Makes the file, readable for its owner only; kInvalidArgument where it exists already. `secrets` (keys of
  // the model) are written as "[secret]" should a server repeat one.
  static Result<std::unique_ptr<Recorder>> Create(std::unique_ptr<Model> model,
                                                  const std::filesystem::path& file,
                                                  std::vector<std::string> secrets);

  const std::string& name() const override { return model_->name(); }
  bool scripted() const override { return model_->scripted(); }
  ActionForm action_form() const override { return model_->action_form(); }

  // What the model says. Each exchange, also one that failed, is in the file when this returns; kIo where it
  // cannot be written. What was cancelled is not recorded.
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  Recorder(std::unique_ptr<Model> model, std::filesystem::path file, UniqueFd fd,
           std::vector<std::string> secrets);
  Status Write(const ChatRequest& request, const Result<ChatReply>& reply);

  std::unique_ptr<Model> model_;
  std::filesystem::path file_;
  std::vector<std::string> secrets_;
  std::mutex mutex_;
  UniqueFd fd_;
  std::vector<ChatMessage> previous_;  // messages of the line before
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_RECORDER_H_
