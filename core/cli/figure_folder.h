// FigureFolder: where images of cells become files. Never writes over a file that is there.
//
// The folder is opened once, before model code runs: with a shared work folder, that code could put a
// symbolic link in its place. Names are made of the prefix and a number alone. Not thread-safe.
#ifndef GLOVEPORT_CORE_CLI_FIGURE_FOLDER_H_
#define GLOVEPORT_CORE_CLI_FIGURE_FOLDER_H_

#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/host/image.h"

namespace gloveport {

// "figure-" for code without a file of its own ("" or "-"), "<stem of FILE>-figure-" for a FILE.
std::string FigurePrefix(std::string_view code_file);

class FigureFolder {
 public:
  // `folder` is made where it is missing; empty: the current one. What fails is told by opened() and Save.
  FigureFolder(std::string folder, std::string prefix);

  Status opened() const;

  // Writes the image to the first free PREFIX + number + extension, counting on from the last one, and
  // returns the file's path. On failure no file is left behind.
  Result<std::string> Save(const Image& image);

 private:
  struct NewFile {
    UniqueFd fd;
    std::string name;
  };
  Result<NewFile> CreateNext(std::string_view extension);
  std::string PathOf(const std::string& name) const;

  std::string shown_;  // as the user named it; empty: the current one
  std::string prefix_;
  Result<UniqueFd> folder_;
  int next_ = 1;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_FIGURE_FOLDER_H_
