#include "gloveport/core/host/display_marks.h"

#include <utility>

namespace gloveport {
namespace {

const Value* MarkOf(const Value& display, std::string_view mark) {
  return display.is_map() ? display.Find(mark) : nullptr;
}

}  // namespace

bool DisplayList::Add(Value display) {
  if (const Value* clears = MarkOf(display, kClearOutput)) {
    clear_with_next_ = clears->is_bool() && clears->as_bool();
    if (!clear_with_next_) displays_.clear();
    return true;
  }
  if (std::exchange(clear_with_next_, false)) displays_.clear();
  if (Update(display)) return true;
  if (displays_.size() >= max_displays_) return false;
  displays_.push_back(std::move(display));
  return true;
}

// Whether it took the place of one of this cell. The name stays: there may be another update.
bool DisplayList::Update(const Value& display) {
  const Value* name = MarkOf(display, kUpdatesDisplayId);
  if (name == nullptr) return false;
  bool found = false;
  for (Value& earlier : displays_) {
    const Value* own = MarkOf(earlier, kDisplayId);
    if (own == nullptr || !(*own == *name)) continue;
    Value updated = display;
    for (auto& [key, value] : updated.as_map()) {
      if (key.is_text() && key.as_text() == kUpdatesDisplayId) key = Value(std::string(kDisplayId));
    }
    earlier = std::move(updated);
    found = true;
  }
  return found;
}

}  // namespace gloveport
