#include "gloveport/tools/builtin/sqlite_reader.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/tools/python_literal.h"

namespace gloveport {
namespace {

constexpr int kStepsBetweenLooks = 1000;  // of SQLite's machine; some microseconds

struct Limit {
  int id;
  int most;
};
constexpr Limit kLimits[] = {
    {SQLITE_LIMIT_SQL_LENGTH, 100'000},   {SQLITE_LIMIT_COLUMN, 1'000},
    {SQLITE_LIMIT_EXPR_DEPTH, 200},       {SQLITE_LIMIT_COMPOUND_SELECT, 100},
    {SQLITE_LIMIT_FUNCTION_ARG, 100},     {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 1000}, {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1'000},
    {SQLITE_LIMIT_WORKER_THREADS, 0},     {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
};

// Pragmas that describe tables, as statements and as functions (SELECT ... FROM pragma_table_info('t')).
constexpr std::string_view kPragmas[] = {"table_info", "table_xinfo", "table_list",      "index_list",
                                         "index_info", "index_xinfo", "foreign_key_list"};
// Functions that reach beyond the database, where an SQLite was built with them.
constexpr std::string_view kFunctions[] = {"load_extension", "readfile", "writefile", "edit",
                                           "fts3_tokenizer", "zipfile",  "fsdir",     "lsmode"};

template <std::size_t kSize>
bool Contains(const std::string_view (&names)[kSize], const char* name) {
  return name != nullptr && std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::size_t SizeOf(const Value& cell) {
  return 16 + (cell.is_text() ? cell.as_text().size() : cell.is_bytes() ? cell.as_bytes().size() : 0);
}

Value CellOf(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return Value(static_cast<std::int64_t>(sqlite3_column_int64(statement, column)));
    case SQLITE_FLOAT:
      return Value(sqlite3_column_double(statement, column));
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      return Value(ToValidUtf8(std::string_view(text != nullptr ? text : "", size)));
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement, column));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      return bytes != nullptr ? Value(Value::Bytes(bytes, bytes + size)) : Value(Value::Bytes());
    }
    default:
      return Value();
  }
}

// SQLite's result code, or nothing for a value that has no form in SQLite.
std::optional<int> BindValue(sqlite3_stmt* statement, int at, const Value& value) {
  if (value.is_null()) return sqlite3_bind_null(statement, at);
  if (value.is_bool()) return sqlite3_bind_int(statement, at, value.as_bool() ? 1 : 0);
  if (value.is_int()) return sqlite3_bind_int64(statement, at, value.as_int());
  if (value.is_double()) return sqlite3_bind_double(statement, at, value.as_double());
  const std::string* text = value.is_text() ? &value.as_text() : nullptr;
  for (const Form form :
       {Form::kDatetime, Form::kDate, Form::kTime, Form::kDecimal, Form::kUuid, Form::kPath}) {
    if (value.is(form) && value.payload().is_text()) text = &value.payload().as_text();
  }
  if (text != nullptr)
    return sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (!value.is_bytes()) return std::nullopt;
  const auto& bytes = value.as_bytes();
  return sqlite3_bind_blob64(statement, at, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
}

// ---- functions that look for a text in another ----
// SQLite's own compare at each place anew: one call with two long texts runs for hours, and nothing can
// interrupt it. These give the same in about linear time.

std::string_view BlobOf(sqlite3_value* value) {
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
  return {bytes != nullptr ? bytes : "", static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

std::string_view TextOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return {text != nullptr ? text : "", static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

std::size_t FindIn(std::string_view text, std::string_view wanted, std::size_t from) {
  const void* found =
      ::memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());  // linear in glibc
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

void Instr(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL || sqlite3_value_type(values[1]) == SQLITE_NULL) return;
  const bool blobs =
      sqlite3_value_type(values[0]) == SQLITE_BLOB && sqlite3_value_type(values[1]) == SQLITE_BLOB;
  const std::string_view text = blobs ? BlobOf(values[0]) : TextOf(values[0]);
  const std::string_view wanted = blobs ? BlobOf(values[1]) : TextOf(values[1]);
  const std::size_t at = FindIn(text, wanted, 0);
  if (at == std::string_view::npos) return sqlite3_result_int(context, 0);
  const auto characters =
      std::count_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  sqlite3_result_int64(context, 1 + (blobs ? static_cast<std::int64_t>(at) : characters));
}

void Replace(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  for (int i = 0; i < 3; ++i) {
    if (sqlite3_value_type(values[i]) == SQLITE_NULL) return;
  }
  const std::string_view text = TextOf(values[0]);
  const std::string_view wanted = TextOf(values[1]);
  const std::string_view other = TextOf(values[2]);
  const int limit = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
  const auto most = static_cast<std::size_t>(limit);
  std::string out;
  std::size_t begin = 0;
  while (!wanted.empty()) {
    const std::size_t at = FindIn(text, wanted, begin);
    if (at == std::string_view::npos) break;
    out += text.substr(begin, at - begin);
    out += other;
    begin = at + wanted.size();
    if (out.size() > most) return sqlite3_result_error_toobig(context);
  }
  out += text.substr(begin);
  if (out.size() > most) return sqlite3_result_error_toobig(context);
  sqlite3_result_text64(context, out.data(), out.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// The characters of a text, each with its continuation bytes.
std::size_t CharacterAt(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return end - begin;
}

template <bool kLeft, bool kRight>
void TrimOf(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL || sqlite3_value_type(values[1]) == SQLITE_NULL) return;
  std::string_view text = TextOf(values[0]);
  const std::string_view listed = TextOf(values[1]);
  std::unordered_set<std::string_view> dropped;
  for (std::size_t at = 0; at < listed.size(); at += CharacterAt(listed, at))
    dropped.insert(listed.substr(at, CharacterAt(listed, at)));
  while (kLeft && !text.empty() && dropped.contains(text.substr(0, CharacterAt(text, 0))))
    text.remove_prefix(CharacterAt(text, 0));
  while (kRight && !text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    if (!dropped.contains(text.substr(begin))) break;
    text = text.substr(0, begin);
  }
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

struct Function {
  const char* name;
  int arguments;
  void (*call)(sqlite3_context*, int, sqlite3_value**);
};
constexpr Function kOwnFunctions[] = {{"instr", 2, Instr},
                                      {"replace", 3, Replace},
                                      {"trim", 2, TrimOf<true, true>},
                                      {"ltrim", 2, TrimOf<true, false>},
                                      {"rtrim", 2, TrimOf<false, true>}};

}  // namespace

struct SqliteReader::Statement {
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> handle{nullptr, sqlite3_finalize};
};

Result<std::unique_ptr<SqliteReader>> SqliteReader::Open(const std::filesystem::path& path,
                                                         SqliteLimits limits) {
  std::unique_ptr<SqliteReader> reader(new SqliteReader(std::move(limits)));
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  const int code = sqlite3_open_v2(path.c_str(), &reader->connection_, flags, nullptr);
  if (code != SQLITE_OK)
    return Fail(code == SQLITE_CANTOPEN ? ErrorCode::kNotFound : ErrorCode::kIo,
                fmt::format("cannot open the database: {}", sqlite3_errstr(code)));
  RETURN_IF_ERROR(reader->Protect());
  return reader;
}

SqliteReader::~SqliteReader() { sqlite3_close_v2(connection_); }

Status SqliteReader::Protect() {
  const std::pair<int, int> settings[] = {
      {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
      {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0},
      {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}};
  for (const auto& [setting, value] : settings) {
    if (sqlite3_db_config(connection_, setting, value, nullptr) != SQLITE_OK)
      return Fail(ErrorCode::kInternal, fmt::format("SQLite does not take the setting {}", setting));
  }
  for (const Limit& limit : kLimits) sqlite3_limit(connection_, limit.id, limit.most);
  const auto longest = std::min<std::size_t>(limits_.max_result_bytes, 1'000'000'000);
  sqlite3_limit(connection_, SQLITE_LIMIT_LENGTH, static_cast<int>(longest));
  sqlite3_extended_result_codes(connection_, 1);
  constexpr int kPure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  for (const Function& function : kOwnFunctions) {
    if (sqlite3_create_function_v2(connection_, function.name, function.arguments, kPure, nullptr,
                                   function.call, nullptr, nullptr, nullptr) != SQLITE_OK)
      return Failure(sqlite3_errcode(connection_));
  }
  // Sorting and temporary tables in memory, where they count; a writer that commits is waited for a moment.
  if (sqlite3_exec(connection_, "PRAGMA temp_store=2; PRAGMA query_only=1", nullptr, nullptr, nullptr) !=
      SQLITE_OK)
    return Failure(sqlite3_errcode(connection_));
  sqlite3_busy_timeout(connection_, 500);
  memory_before_ = sqlite3_memory_used();
  sqlite3_progress_handler(connection_, kStepsBetweenLooks, &SqliteReader::OnProgress, this);
  sqlite3_set_authorizer(connection_, &SqliteReader::Authorize, this);
  return {};
}

bool SqliteReader::MustStop() {
  if (limits_.stop.stop_requested()) {
    stopped_ = ErrorCode::kClosed;
  } else if (limits_.deadline.passed()) {
    stopped_ = ErrorCode::kDeadlineExceeded;
  } else if (sqlite3_memory_used() - memory_before_ > static_cast<std::int64_t>(limits_.max_memory_bytes)) {
    stopped_ = ErrorCode::kResourceExhausted;
  }
  return stopped_.has_value();
}

int SqliteReader::OnProgress(void* self) { return static_cast<SqliteReader*>(self)->MustStop() ? 1 : 0; }

int SqliteReader::Authorize(void* self, int action, const char* first, const char* second,
                            const char* /*database*/, const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      if (!Contains(kFunctions, second)) return SQLITE_OK;
      break;
    case SQLITE_PRAGMA:
      if (Contains(kPragmas, first)) return SQLITE_OK;
      break;
    case SQLITE_UPDATE:
      // What SQLite asks when it declares the columns of a function such as pragma_table_info. A statement
      // that would really write there is none that sqlite3_stmt_readonly lets pass.
      if (std::string_view(first) == "sqlite_master") return SQLITE_OK;
      break;
    default:
      break;
  }
  auto* reader = static_cast<SqliteReader*>(self);
  const char* name = action == SQLITE_FUNCTION ? second : first;
  if (reader->refused_.empty())
    reader->refused_ = action == SQLITE_FUNCTION ? fmt::format("the function {}", name)
                       : action == SQLITE_PRAGMA ? fmt::format("PRAGMA {}", name != nullptr ? name : "")
                                                 : "a statement that does more than SELECT";
  return SQLITE_DENY;
}

tl::unexpected<Error> SqliteReader::Failure(int code) {
  const std::string message =
      connection_ != nullptr ? ToValidUtf8(sqlite3_errmsg(connection_)) : sqlite3_errstr(code);
  switch (code & 0xFF) {
    case SQLITE_AUTH:
      return Fail(ErrorCode::kDenied, fmt::format("sql_query() reads only: {} is not allowed here",
                                                  refused_.empty() ? message : refused_));
    case SQLITE_READONLY:
      return Fail(ErrorCode::kDenied, "sql_query() reads only: " + message);
    case SQLITE_INTERRUPT:
      if (stopped_ == ErrorCode::kClosed) return Fail(ErrorCode::kClosed, "the query was stopped");
      if (stopped_ == ErrorCode::kResourceExhausted)
        return Fail(ErrorCode::kResourceExhausted,
                    fmt::format("the query needs more than {} MiB of memory: sort or group fewer rows",
                                limits_.max_memory_bytes >> 20));
      return Fail(ErrorCode::kDeadlineExceeded,
                  "the query took too long: ask for fewer rows, or use a condition that an index answers");
    case SQLITE_TOOBIG:
      return Fail(ErrorCode::kResourceExhausted, fmt::format("SQL error: {}", message));
    case SQLITE_ERROR:
    case SQLITE_RANGE:
    case SQLITE_MISMATCH:
      return Fail(ErrorCode::kInvalidArgument, fmt::format("SQL error: {}", message));
    default:
      return Fail(ErrorCode::kIo, fmt::format("the database cannot be read: {}", message));
  }
}

Result<SqliteReader::Statement> SqliteReader::Prepare(const std::string& sql) {
  Statement statement;
  sqlite3_stmt* handle = nullptr;
  const char* rest = nullptr;
  if (sql.find('\0') != std::string::npos)
    return Fail(ErrorCode::kInvalidArgument, "SQL error: there is a NUL character in the statement");
  const int code =
      sqlite3_prepare_v2(connection_, sql.c_str(), static_cast<int>(sql.size()) + 1, &handle, &rest);
  statement.handle.reset(handle);
  if (code != SQLITE_OK) return Failure(code);
  if (handle == nullptr) return Fail(ErrorCode::kInvalidArgument, "SQL error: there is no statement");
  sqlite3_stmt* more = nullptr;
  const int rest_code = sqlite3_prepare_v2(connection_, rest, -1, &more, nullptr);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> second(more, sqlite3_finalize);
  if (more != nullptr || rest_code != SQLITE_OK)
    return Fail(ErrorCode::kInvalidArgument,
                "SQL error: one statement at a time, and there is text after the first");
  if (sqlite3_stmt_readonly(handle) == 0 || sqlite3_column_count(handle) == 0)
    return Fail(ErrorCode::kDenied, "sql_query() reads only: the statement does something else");
  return statement;
}

Status SqliteReader::Bind(sqlite3_stmt* statement, const Value& parameters) {
  const int count = sqlite3_bind_parameter_count(statement);
  const std::size_t given = parameters.is_list()  ? parameters.as_list().size()
                            : parameters.is_map() ? parameters.as_map().size()
                                                  : 0;
  for (int at = 1; at <= count; ++at) {
    const char* name = sqlite3_bind_parameter_name(statement, at);
    const Value* value = nullptr;
    if (parameters.is_map() && name != nullptr) value = parameters.Find(name + 1);
    if (parameters.is_list() && static_cast<std::size_t>(at) <= given)
      value = &parameters.as_list()[static_cast<std::size_t>(at) - 1];
    const std::string shown = name != nullptr ? name : fmt::format("?{}", at);
    if (value == nullptr)
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("sql_query(): no value is given for the parameter {}", shown));
    const std::optional<int> code = BindValue(statement, at, *value);
    if (!code)
      return Fail(ErrorCode::kInvalidArgument, fmt::format("sql_query(): the parameter {} cannot be {} {}",
                                                           shown, value->TypeName(), ShortLiteral(*value)));
    if (*code != SQLITE_OK) return Failure(*code);
  }
  if (given > static_cast<std::size_t>(count))
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("sql_query(): {} parameters were given, and the statement has {}", given, count));
  return {};
}

Status SqliteReader::Read(sqlite3_stmt* statement, SqliteRows& out) {
  const int columns = sqlite3_column_count(statement);
  for (int i = 0; i < columns; ++i) {
    const char* name = sqlite3_column_name(statement, i);
    out.columns.push_back(ToValidUtf8(name != nullptr ? name : ""));
  }
  std::size_t bytes = 0;
  while (true) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return Failure(code);
    out.complete = out.rows.size() < limits_.max_rows;
    if (!out.complete) return {};
    std::vector<Value> row;
    for (int i = 0; i < columns; ++i) {
      row.push_back(CellOf(statement, i));
      bytes += SizeOf(row.back());
    }
    out.complete = bytes <= limits_.max_result_bytes;
    if (!out.complete) return {};
    out.rows.push_back(std::move(row));
  }
}

Result<SqliteRows> SqliteReader::Query(const std::string& sql, const Value& parameters) {
  ASSIGN_OR_RETURN(const Statement statement, Prepare(sql));
  RETURN_IF_ERROR(Bind(statement.handle.get(), parameters));
  SqliteRows rows;
  RETURN_IF_ERROR(Read(statement.handle.get(), rows));
  return rows;
}

Status SqliteReader::Check() {
  RETURN_IF_ERROR(Query("SELECT count(*) FROM sqlite_schema", Value()));
  return {};
}

}  // namespace gloveport
