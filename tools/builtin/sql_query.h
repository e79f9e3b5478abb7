// sql_query: reads from SQLite files that the host named. Nothing can be changed: the file is opened
// read-only, and an authorizer lets a statement read, call functions and nothing else (no ATTACH, no PRAGMA
// but those that describe tables, no extension).
//
//   sql_query(sql: str, parameters: list | dict[str, object] | None = None, database: str = 'main',
//             max_rows: int = ...) -> {"columns", "rows", "complete"}
#ifndef GLOVEPORT_TOOLS_BUILTIN_SQL_QUERY_H_
#define GLOVEPORT_TOOLS_BUILTIN_SQL_QUERY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

struct SqlToolOptions {
  std::map<std::string, std::filesystem::path> databases;  // by the names under which cells see them
  std::uint32_t max_rows = 10'000;
  std::size_t max_result_bytes = 16u << 20;
  // By which all SQLite memory of this process may grow while a query runs: a sort needs room.
  std::size_t max_memory_bytes = 256u << 20;
  std::chrono::milliseconds timeout{30'000};
};

// kInvalidArgument without a database; kNotFound, kIo for a file that is not there or is no database.
Result<std::shared_ptr<Tool>> MakeSqlQuery(SqlToolOptions options);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_SQL_QUERY_H_
