#include "gloveport/tools/builtin/file_tools.h"

#include <fmt/core.h>
#include <re2/re2.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/tools/binding.h"
#include "gloveport/tools/builtin/granted_folders.h"
#include "gloveport/tools/builtin/text_pattern.h"

namespace gloveport {

struct ListedFile {
  std::string path;
  std::uint64_t size_bytes = 0;
};
constexpr auto ToolFields(const ListedFile*) {
  return std::make_tuple(Field("path", &ListedFile::path), Field("size_bytes", &ListedFile::size_bytes));
}

struct FileMatch {
  std::string path;
  std::uint64_t line = 0;
  std::string text;
};
constexpr auto ToolFields(const FileMatch*) {
  return std::make_tuple(Field("path", &FileMatch::path), Field("line", &FileMatch::line, "from 1"),
                         Field("text", &FileMatch::text, "the line"));
}

struct SearchResult {
  std::vector<FileMatch> matches;
  std::uint64_t files = 0;
  bool complete = true;
};
constexpr auto ToolFields(const SearchResult*) {
  return std::make_tuple(Field("matches", &SearchResult::matches),
                         Field("files", &SearchResult::files, "searched"),
                         Field("complete", &SearchResult::complete,
                               "False where a limit ended the search or files were left out"));
}

namespace {

constexpr std::size_t kMaxLineShown = 500;

struct Files {
  FileToolOptions options;
  GrantedFolders folders;
};
using SharedFiles = std::shared_ptr<const Files>;

Result<std::string> ReadAll(const GrantedFile& file, std::size_t max_bytes) {
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t got = ::read(file.fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("cannot read the file", errno);
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > max_bytes)
      return Fail(ErrorCode::kResourceExhausted,
                  fmt::format("the file has more than the {} bytes that are read of one", max_bytes));
  }
}

bool IsBinary(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Result<std::string> ReadText(const Files& files, const std::string& path, std::int64_t first_line,
                             std::optional<std::int64_t> lines) {
  if (first_line < 1 || lines.value_or(1) < 1)
    return Fail(ErrorCode::kInvalidArgument, "read_text(): first_line and lines count from 1");
  ASSIGN_OR_RETURN(const GrantedFile file, files.folders.OpenFile(path));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(file, files.options.max_file_bytes));
  if (IsBinary(text))
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} is no text: it has NUL bytes", path));
  std::size_t begin = 0;
  for (std::int64_t line = 1; line < first_line && begin < text.size(); ++line) {
    const auto end = text.find('\n', begin);
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  std::size_t end = lines ? begin : text.size();
  for (std::int64_t line = 0; lines && line < *lines && end < text.size(); ++line) {
    const auto next = text.find('\n', end);
    end = next == std::string::npos ? text.size() : next + 1;
  }
  if (end - begin > files.options.max_text_bytes)
    return Fail(
        ErrorCode::kResourceExhausted,
        fmt::format("these are {} bytes of {}, more than the {} that one call gives: read fewer lines, with "
                    "first_line and lines, or use search_files",
                    end - begin, path, files.options.max_text_bytes));
  return ToValidUtf8(std::string_view(text).substr(begin, end - begin));
}

std::vector<ListedFile> ListMatching(const Files& files, const std::string& folder, const std::string& glob,
                                     const CallContext& context, Status& status, bool& complete) {
  std::vector<ListedFile> found;
  const auto pattern = CompileGlob(glob);
  if (!pattern) {
    status = tl::unexpected<Error>(pattern.error());
    return found;
  }
  std::size_t seen = 0;
  std::size_t entered = 0;
  const auto may_go_on = [&](std::size_t count) {
    complete =
        count <= files.options.max_files && !context.stop.stop_requested() && !context.deadline.passed();
    return complete;
  };
  status = files.folders.Walk(
      folder,
      [&](const std::string& path, std::uint64_t size_bytes) {
        if (!may_go_on(++seen)) return false;
        if (RE2::FullMatch(path, **pattern)) found.push_back({path, size_bytes});
        return true;
      },
      [&] { return may_go_on(++entered); });
  return found;
}

Result<std::vector<ListedFile>> ListFiles(const Files& files, const std::string& folder,
                                          const std::string& glob, const CallContext& context) {
  Status status;
  bool complete = true;
  auto found = ListMatching(files, folder, glob, context, status, complete);
  if (!status) return tl::unexpected<Error>(status.error());
  if (!complete)
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("there are more than {} files or folders: name a folder further down",
                            files.options.max_files));
  return found;
}

struct SearchOptions {
  std::string pattern;
  std::string folder;
  std::string glob;
  bool ignore_case = false;
  std::size_t max_matches = 0;
};

// Adds the matching lines of a text; false where there are enough.
bool SearchLines(const RE2& pattern, const std::string& path, std::string_view text, std::size_t max_matches,
                 std::vector<FileMatch>& matches) {
  std::uint64_t number = 0;
  for (std::string_view line : SplitLines(text)) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), pattern)) continue;
    if (matches.size() == max_matches) return false;
    std::string shown = ToValidUtf8(line.substr(0, kMaxLineShown));
    if (line.size() > kMaxLineShown) shown += "...";
    matches.push_back({path, number, std::move(shown)});
  }
  return true;
}

Result<SearchResult> SearchFiles(const Files& files, const SearchOptions& search,
                                 const CallContext& context) {
  PatternFlags flags;
  flags.ignore_case = search.ignore_case;
  ASSIGN_OR_RETURN(const auto pattern, CompilePattern(search.pattern, flags));
  SearchResult result;
  Status status;
  const auto listed = ListMatching(files, search.folder, search.glob, context, status, result.complete);
  if (!status) return tl::unexpected<Error>(status.error());
  const std::size_t max_matches = std::min(search.max_matches, files.options.max_matches);
  std::uint64_t read = 0;
  for (const ListedFile& listing : listed) {
    const bool time_left = !context.stop.stop_requested() && !context.deadline.passed();
    if (!time_left || read + listing.size_bytes > files.options.max_search_bytes) {
      result.complete = false;
      break;
    }
    auto file = files.folders.OpenFile(listing.path);
    auto text = file ? ReadAll(*file, files.options.max_file_bytes) : Result<std::string>();
    if (!file || !text) {
      result.complete = false;
      continue;
    }
    read += text->size();
    if (IsBinary(*text)) continue;
    ++result.files;
    if (SearchLines(*pattern, listing.path, *text, max_matches, result.matches)) continue;
    result.complete = false;
    break;
  }
  return result;
}

Result<std::shared_ptr<Tool>> MakeReadText(const SharedFiles& files) {
  return BindFunction(
      "read_text", "Reads a text file, or some of its lines. Folders: " + files->folders.Names(),
      [files](const std::string& path, std::int64_t first_line, std::optional<std::int64_t> lines) {
        return ReadText(*files, path, first_line, lines);
      },
      {Arg("path", "begins with the name of a folder"), Arg("first_line", "from 1", 1),
       Arg("lines", "how many; None: all that follow")});
}

Result<std::shared_ptr<Tool>> MakeListFiles(const SharedFiles& files) {
  return BindFunction("list_files",
                      "Lists the files in and below a folder. Folders: " + files->folders.Names(),
                      [files](const std::string& folder, const std::string& glob, CallContext& context) {
                        return ListFiles(*files, folder, glob, context);
                      },
                      {Arg("folder", "'' for all", ""), Arg("glob", "such as *.csv", "*")});
}

Result<std::shared_ptr<Tool>> MakeSearchFiles(const SharedFiles& files) {
  return BindFunction(
      "search_files", "Finds lines of text files by a regular expression. Folders: " + files->folders.Names(),
      [files](std::string pattern, std::string folder, std::string glob, bool ignore_case,
              std::uint32_t max_matches, CallContext& context) {
        return SearchFiles(*files,
                           {std::move(pattern), std::move(folder), std::move(glob), ignore_case, max_matches},
                           context);
      },
      {Arg("pattern", "RE2 syntax: no lookaround, no backreferences"),
       Arg("folder", "or a file; '' for all", ""), Arg("glob", "such as *.csv", "*"),
       Arg("ignore_case", "", false), Arg("max_matches", "", 100)});
}

}  // namespace

Result<std::vector<std::shared_ptr<Tool>>> MakeFileTools(FileToolOptions options) {
  ASSIGN_OR_RETURN(GrantedFolders folders, GrantedFolders::Open(options.folders));
  const SharedFiles files = std::make_shared<const Files>(Files{std::move(options), std::move(folders)});
  std::vector<std::shared_ptr<Tool>> tools;
  for (const auto make : {&MakeReadText, &MakeListFiles, &MakeSearchFiles}) {
    ASSIGN_OR_RETURN(auto tool, make(files));
    tools.push_back(std::move(tool));
  }
  return tools;
}

}  // namespace gloveport
