#include "gloveport/tools/builtin/sql_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/tests/support/temporary_folder.h"

#include "call_tool.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class SqlQuery : public testing::Test {
 protected:
  SqlQuery() {
    Execute(
        "CREATE TABLE sales(month TEXT, amount REAL, n INTEGER, raw BLOB);"
        "INSERT INTO sales VALUES ('may', 1.5, 3, x'00ff'), ('june', 2.5, NULL, NULL);"
        "CREATE VIEW totals AS SELECT sum(amount) AS total FROM sales;");
    options_.databases = {{"main", file_}};
  }
  void Execute(const char* sql) {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection);
    sqlite3_close(connection);
  }
  std::shared_ptr<Tool> Made() {
    auto tool = MakeSqlQuery(options_);
    EXPECT_TRUE(tool) << tool.error().message;
    return tool ? *tool : nullptr;
  }
  std::string Ask(std::string_view sql, Value parameters = {}) {
    return Said(*Made(), {{"sql", sql}, {"parameters", std::move(parameters)}});
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "sales.db";
  SqlToolOptions options_;
};

TEST_F(SqlQuery, FindsAndReplacesInLinearTime) {
  EXPECT_THAT(
      Ask("SELECT instr('\xC3\xA4' || 'abc', 'bc'), instr('a', 'b'), instr('a', ''), instr(NULL, 'a'), "
          "instr(x'00ff01', x'ff01'), instr(123, 23)"),
      HasSubstr("[[3, 0, 1, None, 2, 2]]"));
  EXPECT_THAT(Ask("SELECT replace('abcabc', 'b', 'xy'), replace('aaa', 'aa', ''), replace('a', '', 'b'), "
                  "replace('a', NULL, 'b'), replace(121, 1, 0)"),
              HasSubstr("[['axycaxyc', 'a', 'a', None, '020']]"));
  EXPECT_THAT(
      Ask("WITH t(a) AS (SELECT replace(hex(zeroblob(2000000)), '0', 'a')) "
          "SELECT instr(a, substr(a, 1, 1000000) || 'b'), length(replace(a, substr(a, 2000000) || 'b', '')) "
          "FROM t"),
      HasSubstr("[[0, 4000000]]"));
  EXPECT_THAT(Ask("SELECT trim('xy\xC3\xA4 a x', 'yx\xC3\xA4'), ltrim('xxax', 'x'), rtrim('xax\xC3\xA4', "
                  "'\xC3\xA4x'), trim('xx', 'x'), "
                  "trim('x', NULL), trim('x', ''), trim(' a ')"),
              HasSubstr("[[' a ', 'ax', 'xa', '', None, 'x', 'a']]"));
  EXPECT_THAT(
      Ask("SELECT length(trim(hex(zeroblob(1000000)), replace(hex(zeroblob(1000000)), '0', '1') || '0'))"),
      HasSubstr("[[0]]"));
  EXPECT_THAT(Ask("SELECT replace(hex(zeroblob(100000)), '0', hex(zeroblob(1000)))"), HasSubstr("too big"));
}

TEST_F(SqlQuery, GivesColumnsAndRowsOfEveryKind) {
  EXPECT_EQ(Ask("SELECT * FROM sales ORDER BY amount"),
            "{'columns': ['month', 'amount', 'n', 'raw'], 'rows': [['may', 1.5, 3, b'\\x00\\xff'], ['june', "
            "2.5, None, "
            "None]], 'complete': True}");
  EXPECT_THAT(Ask("SELECT total FROM totals"), HasSubstr("[[4.0]]"));
  EXPECT_THAT(Ask("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<3) SELECT x FROM c;"),
              HasSubstr("[[1], [2], [3]]"));
  EXPECT_THAT(Ask("SELECT name FROM pragma_table_info('sales')"), HasSubstr("'amount'"));
  EXPECT_THAT(Ask("PRAGMA table_info(sales)"), HasSubstr("'amount'"));
}

TEST_F(SqlQuery, BindsParameters) {
  EXPECT_THAT(Ask("SELECT n FROM sales WHERE month = ?", Value::List{Value("may")}), HasSubstr("[[3]]"));
  EXPECT_THAT(Ask("SELECT n FROM sales WHERE month = ?", Value::List{Value("may' OR '1'='1")}),
              HasSubstr("'rows': []"));
  EXPECT_THAT(Ask("SELECT :a, @b, $a", Value::Object({{"a", 1}, {"b", Value(Value::Bytes(1))}})),
              HasSubstr("[[1, b'\\x00', 1]]"));
  EXPECT_THAT(Ask("SELECT ?, ?, ?, ?",
                  Value::List{Value(), Value(true), Value(0.5), Value(Form::kDate, "2026-05-01")}),
              HasSubstr("[[None, 1, 0.5, '2026-05-01']]"));
  EXPECT_THAT(Ask("SELECT ?"), HasSubstr("no value is given for the parameter ?1"));
  EXPECT_THAT(Ask("SELECT :month", Value::Object({{"other", 1}})), HasSubstr("the parameter :month"));
  EXPECT_THAT(Ask("SELECT 1", Value::List{Value(1)}),
              HasSubstr("1 parameters were given, and the statement has 0"));
  EXPECT_THAT(Ask("SELECT ?", Value::List{Value(Value::List())}), HasSubstr("cannot be list"));
}

TEST_F(SqlQuery, ReadsOnly) {
  const auto before = ReadFile(file_);
  for (const char* sql : {"DELETE FROM sales",
                          "INSERT INTO sales VALUES (1,1,1,1)",
                          "UPDATE sales SET n=1",
                          "DROP TABLE sales",
                          "CREATE TABLE t(x)",
                          "CREATE TEMP TABLE t(x)",
                          "VACUUM",
                          "VACUUM INTO '/tmp/x'",
                          "ATTACH '/etc/passwd' AS p",
                          "ATTACH ':memory:' AS p",
                          "BEGIN",
                          "PRAGMA journal_mode=WAL",
                          "PRAGMA writable_schema=1",
                          "PRAGMA temp_store_directory='/tmp'",
                          "REINDEX",
                          "ANALYZE",
                          "SELECT load_extension('/tmp/x.so')",
                          "SELECT readfile('/etc/passwd')",
                          "SELECT writefile('/tmp/x', 'y')",
                          "SELECT fts3_tokenizer('x')",
                          "INSERT INTO sales SELECT * FROM sales RETURNING 1",
                          "EXPLAIN DELETE FROM sales"}) {
    EXPECT_THAT(Ask(sql), StartsWith("error: ")) << sql;
  }
  EXPECT_THAT(Ask("DELETE FROM sales"), HasSubstr("reads only"));
  EXPECT_EQ(*ReadFile(file_), *before);
}

TEST_F(SqlQuery, TakesOneStatement) {
  EXPECT_THAT(Ask("SELECT 1; SELECT 2"), HasSubstr("one statement at a time"));
  EXPECT_THAT(Ask("SELECT 1; nonsense"), HasSubstr("one statement at a time"));
  EXPECT_THAT(Ask("SELECT 1; -- and that was it"), HasSubstr("[[1]]"));
  EXPECT_THAT(Ask(""), HasSubstr("no statement"));
  EXPECT_THAT(Ask("SELEC 1"), HasSubstr("SQL error: near \"SELEC\""));
  EXPECT_THAT(Ask("SELECT absent FROM sales"), HasSubstr("no such column: absent"));
  EXPECT_THAT(Ask("SELECT \"absent\" FROM sales"), HasSubstr("no such column"));
}

TEST_F(SqlQuery, EndsInTimeAndWhenTheCellDoes) {
  constexpr const char* kForever =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c";
  options_.timeout = std::chrono::milliseconds(50);
  EXPECT_THAT(Ask(kForever), HasSubstr("took too long"));
  options_.timeout = std::chrono::minutes(5);
  std::stop_source stop;
  stop.request_stop();
  CallContext context;
  context.stop = stop.get_token();
  const auto stopped = CallTool(*Made(), {{"sql", kForever}}, context);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kClosed);
}

TEST_F(SqlQuery, HoldsLimitsOfRowsBytesAndMemory) {
  constexpr const char* kMany =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 1000000) SELECT x FROM c";
  options_.max_rows = 2;
  EXPECT_THAT(Ask(kMany), HasSubstr("'rows': [[1], [2]], 'complete': False"));
  EXPECT_THAT(Said(*Made(), {{"sql", kMany}, {"max_rows", 1}}),
              HasSubstr("'rows': [[1]], 'complete': False"));
  EXPECT_THAT(Said(*Made(), {{"sql", kMany}, {"max_rows", 9}}),
              HasSubstr("'rows': [[1], [2]], 'complete': False"));
  options_.max_rows = 1000;
  options_.max_result_bytes = 10'000;
  EXPECT_THAT(Ask("SELECT zeroblob(100000)"), StartsWith("error: "));
  EXPECT_THAT(Ask("SELECT zeroblob(6000) UNION ALL SELECT zeroblob(6000)"), HasSubstr("'complete': False"));
  options_.max_memory_bytes = 1 << 20;
  EXPECT_THAT(Ask(std::string(kMany) + " ORDER BY x DESC"), HasSubstr("more than 1 MiB of memory"));
}

TEST_F(SqlQuery, SaysWhichDatabasesThereAre) {
  EXPECT_THAT(Said(*Made(), {{"sql", "SELECT 1"}, {"database", "x"}}), HasSubstr("there is: main"));
  options_.databases = {{"main", folder_ / "none.db"}};
  EXPECT_FALSE(MakeSqlQuery(options_));
  ASSERT_TRUE(WriteFile(folder_ / "text.db", std::string(5000, 'x')));
  options_.databases = {{"main", folder_ / "text.db"}};
  const auto refused = MakeSqlQuery(options_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("not a database"));
  options_.databases.clear();
  EXPECT_FALSE(MakeSqlQuery(options_));
}

}  // namespace
}  // namespace gloveport
