#include "gloveport/tools/builtin/sql_query.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "gloveport/core/base/text.h"
#include "gloveport/tools/binding.h"
#include "gloveport/tools/builtin/sqlite_reader.h"

namespace gloveport {

constexpr auto ToolFields(const SqliteRows*) {
  return std::make_tuple(Field("columns", &SqliteRows::columns),
                         Field("rows", &SqliteRows::rows, "in the order of columns"),
                         Field("complete", &SqliteRows::complete, "False where a limit left rows out"));
}

namespace {

using Parameters = std::variant<std::vector<Value>, std::map<std::string, Value>>;

SqliteLimits LimitsOf(const SqlToolOptions& options) {
  SqliteLimits limits;
  limits.deadline = Deadline::After(options.timeout);
  limits.max_rows = options.max_rows;
  limits.max_result_bytes = options.max_result_bytes;
  limits.max_memory_bytes = options.max_memory_bytes;
  return limits;
}

std::string Names(const SqlToolOptions& options) {
  std::string out;
  for (const auto& [name, path] : options.databases) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Result<SqliteRows> Query(const SqlToolOptions& options, const std::string& sql,
                         const std::optional<Parameters>& parameters, const std::string& database,
                         std::uint32_t max_rows, const CallContext& context) {
  const auto found = options.databases.find(database);
  if (found == options.databases.end())
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("sql_query(): there is no database '{}'; there is: {}",
                            EscapeForTerminal(database), Names(options)));
  SqliteLimits limits = LimitsOf(options);
  limits.deadline = Earlier(limits.deadline, context.deadline);
  limits.stop = context.stop;
  limits.max_rows = std::min(max_rows, options.max_rows);
  ASSIGN_OR_RETURN(const auto reader, SqliteReader::Open(found->second, std::move(limits)));
  return reader->Query(sql, parameters ? ToolType<Parameters>::ToValue(*parameters) : Value());
}

Status CheckDatabases(const SqlToolOptions& options) {
  if (options.databases.empty())
    return Fail(ErrorCode::kInvalidArgument, "sql_query has no database",
                "name at least one: \"databases\": {\"main\": \"sales.db\"}");
  for (const auto& [name, path] : options.databases) {
    auto reader = SqliteReader::Open(path, LimitsOf(options));
    const Status usable = reader ? (*reader)->Check() : tl::unexpected<Error>(reader.error());
    if (!usable)
      return Fail(usable.error().code,
                  fmt::format("the database {}: {}", path.string(), usable.error().message));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Tool>> MakeSqlQuery(SqlToolOptions options) {
  RETURN_IF_ERROR(CheckDatabases(options));
  const std::string names = Names(options);
  const std::string first = options.databases.contains("main") ? "main" : options.databases.begin()->first;
  const std::uint32_t max_rows = std::min(options.max_rows, 1000u);
  auto query = [options = std::move(options)](
                   const std::string& sql, const std::optional<Parameters>& parameters,
                   const std::string& database, std::uint32_t most,
                   CallContext& context) { return Query(options, sql, parameters, database, most, context); };
  return BindFunction("sql_query", "Runs one SELECT on a SQLite database. Databases: " + names,
                      std::move(query),
                      {Arg("sql", "with ? or :name where a value stands"),
                       Arg("parameters", "values for ? as a list, or for :name as a dict", nullptr),
                       Arg("database", "its name", first), Arg("max_rows", "", max_rows)});
}

}  // namespace gloveport
