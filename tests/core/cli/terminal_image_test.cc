#include "gloveport/core/cli/terminal_image.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr TerminalSize kUnknown{};

Image Png(std::size_t bytes, std::uint32_t width = 10, std::uint32_t height = 10) {
  std::string data(bytes, 'x');
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 7);
  return {.kind = ImageKind::kPng, .data = data, .width = width, .height = height};
}

struct Chunk {
  std::string keys;
  std::string payload;
};

// The chunks of a sequence of kitty's protocol; none where it is anything else.
std::vector<Chunk> ChunksOf(std::string_view sequence) {
  std::vector<Chunk> chunks;
  while (!sequence.empty()) {
    const auto middle = sequence.find(';');
    const auto end = sequence.find("\x1b\\");
    if (!sequence.starts_with("\x1b_G") || middle > end || end == std::string_view::npos) return {};
    chunks.push_back({std::string(sequence.substr(3, middle - 3)),
                      std::string(sequence.substr(middle + 1, end - middle - 1))});
    sequence.remove_prefix(end + 2);
  }
  return chunks;
}

TEST(ImageProtocol, IsChosenByWhatTheTerminalSaysItIs) {
  struct Case {
    TerminalNames names;
    ImageProtocol protocol;
  };
  const std::vector<Case> cases = {
      {{"xterm-kitty", "", ""}, ImageProtocol::kKitty},
      {{"xterm-256color", "", "1"}, ImageProtocol::kKitty},
      {{"xterm-ghostty", "ghostty", ""}, ImageProtocol::kKitty},
      {{"xterm-256color", "ghostty", ""}, ImageProtocol::kKitty},
      {{"xterm-256color", "iTerm.app", ""}, ImageProtocol::kIterm},
      {{"xterm-256color", "WezTerm", ""}, ImageProtocol::kIterm},
      {{"xterm-256color", "vscode", ""}, ImageProtocol::kIterm},
      {{"xterm-256color", "vscode", "1"}, ImageProtocol::kIterm},  // started from kitty
      {{"xterm-256color", "", ""}, ImageProtocol::kNone},
      {{"xterm-256color", "Apple_Terminal", ""}, ImageProtocol::kNone},
      {{"tmux-256color", "tmux", "1"}, ImageProtocol::kNone},
      {{"screen", "iTerm.app", ""}, ImageProtocol::kNone},
      {{"dumb", "vscode", ""}, ImageProtocol::kNone},
      {{"", "", ""}, ImageProtocol::kNone},
  };
  for (const Case& c : cases)
    EXPECT_EQ(ImageProtocolOf(c.names), c.protocol) << c.names.term << ' ' << c.names.term_program;
}

TEST(TerminalSequence, KittyGetsChunksOfAtMost4096OfWhichOnlyTheLastSaysSo) {
  // 3072 bytes are exactly one chunk of base64.
  for (const auto& [bytes, count] : std::vector<std::pair<std::size_t, std::size_t>>{
           {1, 1}, {3071, 1}, {3072, 1}, {3073, 2}, {6144, 2}, {10'000, 4}}) {
    const Image image = Png(bytes);
    const auto chunks = ChunksOf(TerminalSequence(ImageProtocol::kKitty, image, kUnknown));
    ASSERT_EQ(chunks.size(), count) << bytes;
    std::string base64;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string more = i + 1 < count ? "m=1" : "m=0";
      EXPECT_EQ(chunks[i].keys, (i == 0 ? "a=T,f=100,q=2," : "q=2,") + more);
      EXPECT_LE(chunks[i].payload.size(), 4096u);
      base64 += chunks[i].payload;
    }
    const auto decoded = DecodeBase64(base64);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(AsText(*decoded), image.data);
  }
}

TEST(TerminalSequence, ItermGetsOneSequenceWithoutAName) {
  const Image image = Png(5000);
  EXPECT_EQ(TerminalSequence(ImageProtocol::kIterm, image, kUnknown),
            "\x1b]1337;File=inline=1;size=5000:" + EncodeBase64(AsBytes(image.data)) + "\x07");
}

TEST(TerminalSequence, AnImageWiderThanTheTerminalIsFittedToItsColumns) {
  const TerminalSize size{.columns = 80, .width = 800};
  const auto keys = [&](std::uint32_t width) {
    return ChunksOf(TerminalSequence(ImageProtocol::kKitty, Png(9, width), size)).at(0).keys;
  };
  EXPECT_EQ(keys(801), "a=T,f=100,c=80,q=2,m=0");
  EXPECT_EQ(keys(800), "a=T,f=100,q=2,m=0");
  EXPECT_TRUE(TerminalSequence(ImageProtocol::kIterm, Png(9, 801), size)
                  .starts_with("\x1b]1337;File=inline=1;size=9;width=80:"));
}

TEST(TerminalSequence, NothingForOtherKindsNoProtocolOrTooMuch) {
  EXPECT_EQ(TerminalSequence(ImageProtocol::kNone, Png(9), kUnknown), "");
  EXPECT_EQ(TerminalSequence(ImageProtocol::kKitty, {.kind = ImageKind::kSvg, .data = "<svg/>"}, kUnknown),
            "");
  EXPECT_EQ(TerminalSequence(ImageProtocol::kKitty, Png(9, 2'000'000'000, 2'000'000'000), kUnknown), "");
  EXPECT_EQ(TerminalSequence(ImageProtocol::kIterm, Png((8u << 20) + 1), kUnknown), "");
  EXPECT_NE(TerminalSequence(ImageProtocol::kKitty, Png(9, 4000, 4000), kUnknown), "");
}

}  // namespace
}  // namespace gloveport
