// Logs that are written into a folder of the test's own, line by line.
#ifndef GLOVEPORT_TESTS_CORE_RECORD_TEMPORARY_LOG_H_
#define GLOVEPORT_TESTS_CORE_RECORD_TEMPORARY_LOG_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/record/chain.h"
#include "gloveport/core/record/log_reader.h"
#include "gloveport/tests/support/temporary_folder.h"

namespace gloveport {

void WriteText(const std::filesystem::path& path, std::string_view text);
std::string ReadText(const std::filesystem::path& path);

// With their newlines; the last may lack its own.
std::vector<std::string> SplitLines(std::string_view text);
std::string JoinLines(const std::vector<std::string>& lines);

// What somebody does who edits records and hides it: seq, prev and hash of every line are made anew.
std::string Rechain(const std::vector<std::string>& lines);

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_RECORD_TEMPORARY_LOG_H_
