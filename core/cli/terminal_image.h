// Images inside a terminal: which protocol it understands, and the escape sequences that show a PNG.
//
// The only bytes of the image in a sequence are base64. Pure functions but for those that look at the
// process.
#ifndef GLOVEPORT_CORE_CLI_TERMINAL_IMAGE_H_
#define GLOVEPORT_CORE_CLI_TERMINAL_IMAGE_H_

#include <string>

#include "gloveport/core/host/image.h"

namespace gloveport {

enum class ImageProtocol { kNone, kKitty, kIterm };

// What terminals say about themselves in the environment.
struct TerminalNames {
  std::string term;             // TERM
  std::string term_program;     // TERM_PROGRAM
  std::string kitty_window_id;  // KITTY_WINDOW_ID

  static TerminalNames FromEnvironment();
};
ImageProtocol ImageProtocolOf(const TerminalNames& names);

struct TerminalSize {
  unsigned columns = 0;  // 0: not known
  unsigned width = 0;    // in pixels; 0: not known
};
TerminalSize TerminalSizeOf(int fd);

// Shows the PNG where the cursor is: in its own size, or as wide as the terminal where it is known to be
// wider. Empty without a protocol, for other kinds, and for an image that is too large to hand to a terminal.
std::string TerminalSequence(ImageProtocol protocol, const Image& image, TerminalSize size);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_TERMINAL_IMAGE_H_
