// Scripted: a model that plays a transcript, for demonstrations and tests. Everything but the model's words
// is real.
//
// The transcript is a text file of JSON lines, one object for each answer of the assistant, in order:
//   {"content": "...", "note": "why this answer is here; ignored"}
// Empty lines, and lines that begin with #, are skipped. What the program says to the model does not matter.
#ifndef GLOVEPORT_CORE_MODEL_SCRIPTED_H_
#define GLOVEPORT_CORE_MODEL_SCRIPTED_H_

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gloveport/core/model/model.h"

namespace gloveport {

class Scripted : public Model {
 public:
  // kNotFound or kIo where the file cannot be read, kInvalidArgument with file and line where it is
  // malformed.
  static Result<std::unique_ptr<Scripted>> Load(const std::filesystem::path& file);

  // `source` is what messages call the script.
  Scripted(std::string source, std::vector<std::string> answers);

  const std::string& name() const override { return name_; }
  bool scripted() const override { return true; }

  // The next answer. kClosed when there is none left. finish_reason is "stop", the usage is zero.
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  const std::string source_;
  const std::string name_;
  const std::vector<std::string> answers_;
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_SCRIPTED_H_
