#include "temporary_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace gloveport {

void WriteText(const std::filesystem::path& path, std::string_view text) {
  // In the place of one that is cut to nothing, which some file systems write to the disk when it is closed.
  std::filesystem::remove(path);
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  EXPECT_TRUE(file) << path;
}

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::string Rechain(const std::vector<std::string>& lines) {
  ChainHead head;
  std::string text;
  for (const std::string& line : lines) {
    Json body = Json::parse(line);
    for (const char* member : {"seq", "prev", "hash"}) body.erase(member);
    if (body["kind"] == "seal") body["records"] = head.next_seq;
    text += MakeRecord(head, body);
  }
  return text;
}

}  // namespace gloveport
