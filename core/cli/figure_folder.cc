#include "gloveport/core/cli/figure_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

constexpr int kMaxNumber = 99'999;

Result<UniqueFd> OpenFolder(const std::string& folder) {
  std::error_code failed;
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  if (failed) return FailErrno(fmt::format("cannot create the folder {}", folder), failed.value());
  const std::string path = folder.empty() ? "." : folder;
  UniqueFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return FailErrno(fmt::format("cannot open the folder {}", path), errno);
  return fd;
}

}  // namespace

std::string FigurePrefix(std::string_view code_file) {
  if (code_file.empty() || code_file == "-") return "figure-";
  return std::filesystem::path(code_file).stem().string() + "-figure-";
}

FigureFolder::FigureFolder(std::string folder, std::string prefix)
    : shown_(std::move(folder)), prefix_(std::move(prefix)), folder_(OpenFolder(shown_)) {}

Status FigureFolder::opened() const {
  if (!folder_) return tl::unexpected<Error>(folder_.error());
  return {};
}

Result<FigureFolder::NewFile> FigureFolder::CreateNext(std::string_view extension) {
  RETURN_IF_ERROR(opened());
  while (next_ <= kMaxNumber) {
    std::string name = fmt::format("{}{}.{}", prefix_, next_++, extension);
    // O_EXCL: neither an existing file nor what a link points to is opened.
    UniqueFd fd(::openat(folder_->get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd) return NewFile{std::move(fd), std::move(name)};
    if (errno != EEXIST) return FailErrno(fmt::format("cannot create {}", PathOf(name)), errno);
  }
  return Fail(ErrorCode::kResourceExhausted,
              fmt::format("every number up to {} is taken in {}", kMaxNumber, PathOf("")));
}

Result<std::string> FigureFolder::Save(const Image& image) {
  ASSIGN_OR_RETURN(const NewFile file, CreateNext(ExtensionOf(image.kind)));
  const auto written = WriteFull(file.fd.get(), AsBytes(image.data), Deadline::Never());
  if (written) return PathOf(file.name);
  ::unlinkat(folder_->get(), file.name.c_str(), 0);
  return Fail(written.error().code,
              fmt::format("cannot write {}: {}", PathOf(file.name), written.error().message));
}

std::string FigureFolder::PathOf(const std::string& name) const {
  if (name.empty()) return shown_.empty() ? "." : shown_;
  return (std::filesystem::path(shown_) / name).string();
}

}  // namespace gloveport
