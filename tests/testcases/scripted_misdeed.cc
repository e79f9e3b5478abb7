// A session that says what its cell's text spells out: "fuzz:" and hexadecimal digits of a list of steps,
// each an operation, a length of two bytes and that many bytes. What a fuzzer writes becomes a course of the
// protocol.
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "misdeeds.h"

namespace hostile {
namespace {

constexpr std::string_view kMark = "fuzz:";

int Digit(char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; }

std::string BytesOfHex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<char>(Digit(text[i]) * 16 + Digit(text[i + 1])));
  return bytes;
}

void Perform(Session& session, unsigned operation, std::string_view bytes) {
  switch (operation % 8) {
    case 0:
    case 1:
    case 2:
      return session.Send(bytes);
    case 3:
      return session.PutRaw(bytes);
    case 4:
      return session.SendOnSocket(bytes);
    case 5:
      (void)!::write(1, bytes.data(), bytes.size());
      return;
    case 6:
      return session.Send(ToolCall(bytes.size(), 0, "wait"));
    default:
      ::_exit(static_cast<int>(bytes.size()));
  }
}

void PerformAll(Cell cell) {
  const std::string& frame = cell.session.last();
  const std::size_t mark = frame.find(kMark);
  std::string_view text = frame;
  text = mark == std::string::npos ? std::string_view() : text.substr(mark + kMark.size());
  const std::string script = BytesOfHex(text);
  for (std::size_t at = 0; at + 3 <= script.size();) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(script[at + i]); };
    const std::size_t size = std::min<std::size_t>(byte(1) | byte(2) << 8, script.size() - at - 3);
    Perform(cell.session, byte(0), std::string_view(script).substr(at + 3, size));
    at += 3 + size;
  }
  cell.session.Send(CellDone(cell.number, "ok", Number(1)));
}

}  // namespace

std::map<std::string, Misdeed> ScriptedMisdeeds() {
  Misdeed misdeed;
  misdeed.cell = PerformAll;
  return {{"cell-scripted", misdeed}};
}

}  // namespace hostile
