// Displays say by marks, beside their forms, what they do to earlier ones (core/serve/PROTOCOL.md, displays):
// for those who can take back what they have shown. Others show the forms.
#ifndef GLOVEPORT_CORE_HOST_DISPLAY_MARKS_H_
#define GLOVEPORT_CORE_HOST_DISPLAY_MARKS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "gloveport/core/wire/value.h"

namespace gloveport {

inline constexpr std::string_view kMarkPrefix = "application/vnd.gloveport.";
inline constexpr std::string_view kDisplayId = "application/vnd.gloveport.display-id";
inline constexpr std::string_view kUpdatesDisplayId = "application/vnd.gloveport.updates-display-id";
inline constexpr std::string_view kClearOutput = "application/vnd.gloveport.clear-output";
// How many bytes the cell has written to stdout and stderr before: a list of two integers, which the host
// takes off.
inline constexpr std::string_view kWrittenBefore = "application/vnd.gloveport.written-before";

inline bool IsDisplayMark(std::string_view mime_type) { return mime_type.starts_with(kMarkPrefix); }

// Whether there is nothing to show, as in one that only clears.
inline bool HasOnlyMarks(const Value& bundle) {
  return bundle.is_map() && !bundle.as_map().empty() &&
         std::all_of(bundle.as_map().begin(), bundle.as_map().end(), [](const auto& form) {
           return form.first.is_text() && IsDisplayMark(form.first.as_text());
         });
}

// The displays of a cell that are there when it has ended: without those that were cleared, and with those
// that were updated as they are then.
class DisplayList {
 public:
  explicit DisplayList(std::size_t max_displays) : max_displays_(max_displays) {}

  // False where the list is full: the display is not kept.
  bool Add(Value display);
  std::vector<Value> Take() { return std::move(displays_); }

 private:
  bool Update(const Value& display);

  std::size_t max_displays_;
  std::vector<Value> displays_;
  bool clear_with_next_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_DISPLAY_MARKS_H_
