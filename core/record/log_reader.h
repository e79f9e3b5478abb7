// Reading and verifying audit logs. A log is input from outside: everything is checked, nothing is trusted.
#ifndef GLOVEPORT_CORE_RECORD_LOG_READER_H_
#define GLOVEPORT_CORE_RECORD_LOG_READER_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/record/chain.h"
#include "gloveport/core/record/signing_key.h"

namespace gloveport {

enum class LogEnd {
  kSealed,  // nothing is missing at the end
  kOpen,    // whole records up to the end; whether more came after them the log itself cannot tell
  kTorn,    // the last line is not whole, as a host that was killed leaves it; the records before it hold
  kBroken,  // a record was edited, removed, added or moved
};
std::string_view LogEndName(LogEnd end);  // "sealed", "open end", "torn end", "broken"

struct LogCheck {
  LogEnd end = LogEnd::kOpen;
  std::uint64_t records = 0;                    // that hold, from the first on
  std::string head = ChainStart();              // hash of the last of them
  std::optional<std::uint64_t> broken_line;     // 1-based, kBroken and kTorn
  std::string problem;                          // why, kBroken and kTorn
  std::uint64_t signatures = 0;                 // that were checked and are right
  std::uint64_t unchecked_signatures = 0;       // for want of a key
  std::optional<std::uint64_t> signed_records;  // up to which record a checked signature covers the log

  bool holds() const { return end != LogEnd::kBroken; }
};

struct LogCheckOptions {
  // Then every signature must be this key's, the log must have one, and a seal must be signed.
  std::optional<SigningKey> key;
  std::optional<std::string> head;  // hash that was kept elsewhere: some record must have it
};

// Calls `take`, if given, with every record that holds, in order. kIo and kNotFound are about the file; what
// is wrong with its content is in the LogCheck.
Result<LogCheck> CheckLog(const std::filesystem::path& path, const LogCheckOptions& options = {},
                          const std::function<void(const ChainedRecord&)>& take = {});

// All records of a log that holds; kProtocol with the place where it does not.
Result<std::vector<Json>> ReadLog(const std::filesystem::path& path);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_LOG_READER_H_
