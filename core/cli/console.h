// Console: where the command writes. stdout is data, stderr is progress and errors.
//
// Text that a session or a model wrote goes through Safe or StreamData: on a terminal, control characters and
// escape sequences become visible; into a file or pipe, data stays as it is. Thread-safe.
#ifndef GLOVEPORT_CORE_CLI_CONSOLE_H_
#define GLOVEPORT_CORE_CLI_CONSOLE_H_

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/serve/utf8_joiner.h"

namespace gloveport {

enum class Style { kPlain, kBold, kDim, kGood, kBad, kWarning, kHeading, kKeyword, kString, kNumber };

class Console {
 public:
  // Looks at stdout and stderr of the process and at NO_COLOR.
  Console();
  // One that never paints, to make text with.
  static const Console& Plain();

  // ---- data ----
  void Data(std::string_view text);  // ours: as it is
  // A line of JSON, which has whatever sessions and models wrote: on a terminal with all that could drive it
  // escaped.
  void JsonData(std::string_view json);
  void StreamData(std::string_view text);  // a session's, in pieces
  void EndStream();  // what StreamData kept back, and a line end on a terminal where one is missing

  // ---- progress ----
  void Note(std::string_view text, Style style = Style::kPlain);  // ours: one or more lines; adds a line end
  void StreamNote(std::string_view text);                         // a session's stderr, in pieces
  // One line below all notes that stays there, on a terminal only: what is being waited for. Empty: none.
  // While somebody types (HoldStatus), it is not drawn.
  void SetStatus(std::string_view text);
  void HoldStatus();
  void ReleaseStatus();
  void Failure(std::string_view program, const Error& error);  // "program: message" and the hint

  // Safe to show: for pieces of lines that a session, a model or a file named.
  static std::string Safe(std::string_view text);
  std::string Paint(std::string_view text, Style style) const;      // for stderr
  std::string PaintData(std::string_view text, Style style) const;  // for stdout
  // `text` as an indented block, each line after `prefix`.
  std::string Block(std::string_view text, std::string_view prefix = "    ") const;

  bool notes_on_terminal() const { return stderr_is_terminal_; }
  bool output_failed() const { return output_failed_; }  // nobody reads stdout any more

 private:
  enum class Colour { kNever, kWhereWanted };
  explicit Console(Colour colour);
  void WriteTo(int fd, std::string_view text);
  void EraseStatus();  // with the mutex held, as the next
  void DrawStatus();

  const bool stdout_is_terminal_;
  const bool stderr_is_terminal_;
  const bool colour_;
  const bool data_colour_;
  std::atomic<bool> output_failed_{false};
  std::mutex mutex_;
  Utf8Joiner data_;
  Utf8Joiner notes_;
  bool data_at_line_start_ = true;
  std::string status_;
  bool status_drawn_ = false;
  int status_held_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_CONSOLE_H_
