// Lines of a tree on stderr: what happens within a cell hangs from the cell, and what an agent does that is
// called as a tool hangs from that call.
#ifndef GLOVEPORT_CORE_CLI_CALL_TREE_H_
#define GLOVEPORT_CORE_CLI_CALL_TREE_H_

#include <string>
#include <string_view>

#include "gloveport/core/cli/console.h"

namespace gloveport {

// What stands before a line.
struct TreeMarks {
  std::string_view item;     // of an item that others may follow
  std::string_view last;     // of the last one
  std::string_view through;  // of further lines of an item, and of what hangs from it
  std::string_view gap;      // of further lines of the last one

  // Lines of box characters on a terminal that shows UTF-8, as LC_ALL, LC_CTYPE or LANG says; ASCII
  // elsewhere.
  static const TreeMarks& For(const Console& console);
};

// The place in a tree where items are drawn. A value; thread-safe as the console is, which must outlive it.
class TreeBranch {
 public:
  TreeBranch(Console& console, const TreeMarks& marks, std::string prefix)
      : console_(&console), marks_(&marks), prefix_(std::move(prefix)) {}

  // `text` is safe to show and may have several lines, which stay together.
  void Item(std::string_view text, Style style = Style::kPlain) const {
    Draw(marks_->item, marks_->through, text, style);
  }
  void Last(std::string_view text, Style style = Style::kPlain) const {
    Draw(marks_->last, marks_->gap, text, style);
  }
  // For what hangs from an item of this branch.
  TreeBranch Below() const { return {*console_, *marks_, prefix_ + std::string(marks_->through)}; }

 private:
  void Draw(std::string_view first, std::string_view rest, std::string_view text, Style style) const;

  Console* console_;
  const TreeMarks* marks_;
  std::string prefix_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_CALL_TREE_H_
