// Stop sequences on our side: not every server knows them, and some leave the sequence in the text.
#ifndef GLOVEPORT_CORE_MODEL_STOP_TEXT_H_
#define GLOVEPORT_CORE_MODEL_STOP_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace gloveport {

// Cuts a text that arrives in pieces before the first place where a stop sequence begins. What could be the
// beginning of one is held back until it is known. Empty sequences are ignored. Not thread-safe.
class StopCutter {
 public:
  explicit StopCutter(std::vector<std::string> stop);

  // What of the text so far can be handed on, and was not before.
  std::string Take(std::string_view piece);
  // The text has ended: what was held back.
  std::string End();
  // A stop sequence came: nothing that follows counts.
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stop_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_STOP_TEXT_H_
