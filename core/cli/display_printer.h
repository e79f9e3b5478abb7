// DisplayPrinter: what a cell displayed, for people: texts on stdout, images into files and, where it can
// show them, into the terminal. Not thread-safe.
#ifndef GLOVEPORT_CORE_CLI_DISPLAY_PRINTER_H_
#define GLOVEPORT_CORE_CLI_DISPLAY_PRINTER_H_

#include <string_view>

#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/figure_folder.h"
#include "gloveport/core/cli/terminal_image.h"
#include "gloveport/core/host/outcome.h"

namespace gloveport {

class DisplayPrinter {
 public:
  // Both must outlive the printer.
  DisplayPrinter(Console& console, FigureFolder& folder);

  // All of it, in the order it came. `value_line`: the line that will show the cell's value, empty without
  // one; the text of the value's own display is left to it.
  void Print(const CellResult& result, std::string_view value_line);
  // Only into files: the rest is in the JSON.
  void SaveImages(const CellResult& result);

  bool all_saved() const { return all_saved_; }

 private:
  bool SaveImagesOf(const Value& bundle, ImageProtocol protocol);  // whether there were any
  void SaveImage(ImageKind kind, const Value& form, ImageProtocol protocol);
  void PrintText(const Value& bundle);

  Console& console_;
  FigureFolder& folder_;
  int figures_ = 0;
  bool all_saved_ = true;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_DISPLAY_PRINTER_H_
