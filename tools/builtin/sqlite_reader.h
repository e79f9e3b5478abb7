// SqliteReader: one read-only connection to an SQLite file, for one statement that a cell wrote. Deadline,
// stop and memory are looked at while it runs. Not thread-safe; cheap enough to be made for each query.
#ifndef GLOVEPORT_TOOLS_BUILTIN_SQLITE_READER_H_
#define GLOVEPORT_TOOLS_BUILTIN_SQLITE_READER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"

struct sqlite3;
struct sqlite3_stmt;

namespace gloveport {

struct SqliteLimits {
  Deadline deadline = Deadline::Never();
  std::stop_token stop;
  std::uint32_t max_rows = 0;
  std::size_t max_result_bytes = 0;
  std::size_t max_memory_bytes = 0;
};

struct SqliteRows {
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;
  bool complete = true;
};

class SqliteReader {
 public:
  static Result<std::unique_ptr<SqliteReader>> Open(const std::filesystem::path& path, SqliteLimits limits);
  ~SqliteReader();
  SqliteReader(const SqliteReader&) = delete;
  SqliteReader& operator=(const SqliteReader&) = delete;

  // `parameters` is None, a List (by position) or a Map (by name). kInvalidArgument for SQL that is none and
  // for parameters that do not fit; kDenied for what does more than read; kDeadlineExceeded, kClosed and
  // kResourceExhausted for the limits. Rows beyond max_rows or max_result_bytes make `complete` false.
  Result<SqliteRows> Query(const std::string& sql, const Value& parameters);

  // Reads the schema, to find out whether the file is a database.
  Status Check();

 private:
  struct Statement;

  explicit SqliteReader(SqliteLimits limits) : limits_(std::move(limits)) {}
  Status Protect();
  bool MustStop();
  Result<Statement> Prepare(const std::string& sql);
  Status Bind(sqlite3_stmt* statement, const Value& parameters);
  Status Read(sqlite3_stmt* statement, SqliteRows& out);
  tl::unexpected<Error> Failure(int code);
  static int OnProgress(void* self);
  static int Authorize(void* self, int action, const char* first, const char* second, const char* database,
                       const char* trigger);

  const SqliteLimits limits_;
  sqlite3* connection_ = nullptr;
  std::int64_t memory_before_ = 0;
  std::string refused_;               // what the authorizer refused
  std::optional<ErrorCode> stopped_;  // why the progress handler stopped it
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_SQLITE_READER_H_
