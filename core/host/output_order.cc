#include "gloveport/core/host/output_order.h"

#include <algorithm>
#include <limits>

#include "gloveport/core/host/display_marks.h"

namespace gloveport {

void OutputOrder::Add(Stream stream, std::string_view text) {
  if (sink_) texts_[static_cast<std::size_t>(stream)].untold += text;
}

void OutputOrder::Tell() {
  constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
  TellUpTo(Stream::kStdout, kAll);
  TellUpTo(Stream::kStderr, kAll);
}

void OutputOrder::TellBefore(Value& display) {
  Value::Map& forms = display.as_map();
  const auto mark = std::find_if(forms.begin(), forms.end(), [](const auto& form) {
    return form.first.is_text() && form.first.as_text() == kWrittenBefore;
  });
  if (mark == forms.end()) return Tell();
  const Value written = std::move(mark->second);
  forms.erase(mark);
  const auto count = [&](std::size_t i) {
    const bool is_count = written.is_list() && written.as_list().size() == 2 && written.as_list()[i].is_int();
    return is_count ? static_cast<std::uint64_t>(std::max<std::int64_t>(written.as_list()[i].as_int(), 0))
                    : 0;
  };
  TellUpTo(Stream::kStdout, count(0));
  TellUpTo(Stream::kStderr, count(1));
}

void OutputOrder::TellUpTo(Stream stream, std::uint64_t bytes) {
  Text& text = texts_[static_cast<std::size_t>(stream)];
  const std::uint64_t left = bytes > text.told_bytes ? bytes - text.told_bytes : 0;
  const std::size_t size = std::min<std::uint64_t>(left, text.untold.size());
  if (size == 0) return;
  if (sink_) sink_->OnOutput(session_, cell_, stream, std::string_view(text.untold).substr(0, size));
  text.told_bytes += size;
  text.untold.erase(0, size);
}

}  // namespace gloveport
