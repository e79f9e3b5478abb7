// StreamView: shows what a model writes, line by line as it comes: thoughts, then code with numbers and
// colours. Internal to the narrator; not thread-safe.
#ifndef GLOVEPORT_CORE_CLI_STREAM_VIEW_H_
#define GLOVEPORT_CORE_CLI_STREAM_VIEW_H_

#include <string>
#include <string_view>

#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/highlight.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

class StreamView {
 public:
  // `console` must outlive it.
  explicit StreamView(Console& console) : console_(console), highlighter_(console) {}

  void Add(const ChatDelta& delta);
  // The reply is whole: shows the rest of it.
  void Finish();

  bool has_shown() const { return has_shown_; }
  // The code that was shown, with a line end behind each line.
  const std::string& code() const { return code_; }

 private:
  enum class Part { kNone, kReasoning, kText, kCode };

  void Turn(Part part);   // flushes what is of another part, and begins this one
  void Begin(Part part);  // says what comes
  void TakeLines();
  void ShowLine(std::string_view line);
  void ShowCode(std::string_view line);

  Console& console_;
  PythonHighlighter highlighter_;
  Part part_ = Part::kNone;
  std::string pending_;  // the beginning of a line
  std::string code_;
  bool fenced_ = false;   // within a code block of the text form
  bool is_json_ = false;  // structured output, which comes unpacked as well
  bool content_begun_ = false;
  bool has_shown_ = false;
  int line_number_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_STREAM_VIEW_H_
