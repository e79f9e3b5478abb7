#include "gloveport/core/cli/spinner.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <utility>

namespace gloveport {
namespace {

constexpr std::array<std::string_view, 4> kFrames = {"-", "\\", "|", "/"};
constexpr std::chrono::milliseconds kFrameTime{120};

}  // namespace

Spinner::Spinner(Console& console, std::string what)
    : console_(console), start_(std::chrono::steady_clock::now()), what_(std::move(what)) {
  if (console_.notes_on_terminal())
    thread_ = std::jthread([this](const std::stop_token& stop) { Turn(stop); });
}

Spinner::~Spinner() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  console_.SetStatus("");
}

void Spinner::SetWhat(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
}

void Spinner::Turn(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (std::size_t frame = 0; !stop.stop_requested(); ++frame) {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    // A quick answer needs no line that flickers.
    if (elapsed >= kFrameTime) {
      console_.SetStatus(fmt::format("{} {}  {:.0f} s", kFrames[frame % kFrames.size()], what_,
                                     std::chrono::duration<double>(elapsed).count()));
    }
    changed_.wait_for(lock, stop, kFrameTime, [] { return false; });
  }
}

}  // namespace gloveport
