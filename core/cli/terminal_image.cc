#include "gloveport/core/cli/terminal_image.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr std::size_t kKittyChunk = 4096;  // of base64, the protocol's limit
// A terminal decodes what it is given: a small file can claim a picture that takes all of its memory.
constexpr std::size_t kMaxShownBytes = 8u << 20;
constexpr std::uint64_t kMaxShownPixels = 32u << 20;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// q=2: the terminal answers nothing, or its answer would be typed into the shell. Every chunk says so, as
// some versions of kitty look at the last one.
std::string KittySequence(std::string_view base64, unsigned columns) {
  std::string out;
  std::string keys = "a=T,f=100,";
  if (columns > 0) keys += fmt::format("c={},", columns);
  while (!base64.empty()) {
    const std::string_view chunk = base64.substr(0, kKittyChunk);
    base64.remove_prefix(chunk.size());
    out += fmt::format("\x1b_G{}q=2,m={};{}\x1b\\", keys, base64.empty() ? 0 : 1, chunk);
    keys.clear();
  }
  return out;
}

std::string ItermSequence(std::string_view base64, std::size_t bytes, unsigned columns) {
  const std::string width = columns > 0 ? fmt::format(";width={}", columns) : "";
  return fmt::format("\x1b]1337;File=inline=1;size={}{}:{}\x07", bytes, width, base64);
}

}  // namespace

TerminalNames TerminalNames::FromEnvironment() {
  return {.term = Variable("TERM"),
          .term_program = Variable("TERM_PROGRAM"),
          .kitty_window_id = Variable("KITTY_WINDOW_ID")};
}

ImageProtocol ImageProtocolOf(const TerminalNames& names) {
  const std::string_view term = names.term;
  const std::string_view program = names.term_program;
  // Multiplexers keep the variables of the terminal around them, and would take an image for a title.
  if (term.starts_with("tmux") || term.starts_with("screen") || term == "dumb" || program == "tmux")
    return ImageProtocol::kNone;
  if (Contains(term, "kitty") || Contains(term, "ghostty") || program == "ghostty")
    return ImageProtocol::kKitty;
  // Before KITTY_WINDOW_ID, which a program inherits that was started from kitty. WezTerm knows both
  // protocols; this one is its own choice.
  if (program == "iTerm.app" || program == "WezTerm" || program == "vscode" || program == "mintty")
    return ImageProtocol::kIterm;
  return names.kitty_window_id.empty() ? ImageProtocol::kNone : ImageProtocol::kKitty;
}

TerminalSize TerminalSizeOf(int fd) {
  struct winsize size {};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return {};
  return {.columns = size.ws_col, .width = size.ws_xpixel};
}

std::string TerminalSequence(ImageProtocol protocol, const Image& image, TerminalSize size) {
  if (protocol == ImageProtocol::kNone || image.kind != ImageKind::kPng) return "";
  if (image.data.size() > kMaxShownBytes || std::uint64_t{image.width} * image.height > kMaxShownPixels)
    return "";
  const unsigned columns = size.width > 0 && image.width > size.width ? size.columns : 0;
  const std::string base64 = EncodeBase64(AsBytes(image.data));
  return protocol == ImageProtocol::kKitty ? KittySequence(base64, columns)
                                           : ItermSequence(base64, image.data.size(), columns);
}

}  // namespace gloveport
