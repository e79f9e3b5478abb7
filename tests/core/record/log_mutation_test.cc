// Whoever edits a log is found: 10,000 edits of real logs, and what each must be reported as.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "gloveport/core/record/log_reader.h"

#include "recorded_sessions.h"
#include "temporary_log.h"

namespace gloveport {
namespace {

constexpr int kEdits = 10'000;

struct RealLog {
  std::string name;
  std::string text;
  std::string head;
  bool is_sealed = false;
  bool is_signed = false;
};

// What an edit may be reported as; at least one of the ways to look must find it, where it can be found.
struct Edit {
  std::string what;
  std::string text;
  bool is_recomputed = false;  // the chain holds: a key or a head is needed
};

class LogMutationTest : public testing::Test {
 protected:
  LogMutationTest() : random_(20261130) {
    EXPECT_TRUE(SigningKey::Generate(folder_ / "key"));
    for (const bool is_signed : {false, true}) {
      const std::string name = is_signed ? "signed" : "plain";
      AuditLogOptions options;
      if (is_signed) options.key = *SigningKey::Load(folder_ / "key");
      RecordALittleOfEverything(folder_ / name, std::move(options));
      const std::string text = ReadText(folder_ / name);
      logs_.push_back({name + ", sealed", text, CheckLog(folder_ / name)->head, true, is_signed});
      const std::string open = text.substr(0, text.rfind('\n', text.size() - 2) + 1);
      logs_.push_back({name + ", open", open, Check(open).head, false, is_signed});
    }
  }

  LogCheck Check(std::string_view text, const LogCheckOptions& options = {}) {
    if (text != written_) WriteText(folder_ / "edited", written_ = text);
    const auto check = CheckLog(folder_ / "edited", options);
    EXPECT_TRUE(check) << check.error().message;
    return *check;
  }
  std::size_t Below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  Edit FlipAByte(const std::string& text) {
    Edit edit{"byte flip", text};
    edit.text[Below(text.size())] ^= static_cast<char>(1 + Below(255));
    return edit;
  }
  Edit InsertBytes(const std::string& text) {
    Edit edit{"insertion", text};
    std::string more(1 + Below(5), ' ');
    for (char& c : more) c = "x0\"},\n \\"[Below(8)];
    edit.text.insert(Below(text.size() + 1), more);
    return edit;
  }
  Edit DeleteBytes(const std::string& text) {
    const std::size_t at = Below(text.size() - 1);
    return {"deletion", std::string(text).erase(at, std::min(1 + Below(5), text.size() - 1 - at))};
  }
  Edit SwapLines(const std::string& text) {
    std::vector<std::string> lines = SplitLines(text);
    const std::size_t a = Below(lines.size());
    const std::size_t b = (a + 1 + Below(lines.size() - 1)) % lines.size();
    std::swap(lines[a], lines[b]);
    return {"swap of lines", JoinLines(lines)};
  }
  // Never the last: that is a cut.
  Edit RemoveALine(const std::string& text) {
    std::vector<std::string> lines = SplitLines(text);
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(Below(lines.size() - 1)));
    return {"removal of a line", JoinLines(lines)};
  }
  Edit RepeatALine(const std::string& text) {
    std::vector<std::string> lines = SplitLines(text);
    const std::string line = lines[Below(lines.size())];
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(Below(lines.size() + 1)), line);
    return {"repetition of a line", JoinLines(lines)};
  }
  // A time, and all hashes from there on made anew. Not the seal's own time: a signature covers what is
  // before it.
  Edit Recompute(const std::string& text) {
    std::vector<std::string> lines = SplitLines(text);
    const std::size_t at = Below(lines.size() - 1);
    Json record = Json::parse(lines[at]);
    const std::string time = record["time"];
    record["time"] = "1999-12-31" + time.substr(10);
    lines[at] = record.dump() + "\n";
    return {"recomputed chain", Rechain(lines), true};
  }
  Edit RecomputeWithoutALine(const std::string& text) {
    std::vector<std::string> lines = SplitLines(text);
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(Below(lines.size() - 1)));
    return {"recomputed chain without a record", Rechain(lines), true};
  }
  Edit AnyEdit(const std::string& text) {
    using Maker = Edit (LogMutationTest::*)(const std::string&);
    static constexpr Maker kMakers[] = {
        &LogMutationTest::FlipAByte, &LogMutationTest::InsertBytes,           &LogMutationTest::DeleteBytes,
        &LogMutationTest::SwapLines, &LogMutationTest::RemoveALine,           &LogMutationTest::RepeatALine,
        &LogMutationTest::Recompute, &LogMutationTest::RecomputeWithoutALine,
    };
    while (true) {
      Edit edit = (this->*kMakers[Below(std::size(kMakers))])(text);
      if (edit.text != text) return edit;
    }
  }

  // How many lines of `edited` are those of the log, from the first on.
  static std::size_t SameLines(const std::string& text, const std::string& edited) {
    const std::vector<std::string> before = SplitLines(text);
    const std::vector<std::string> after = SplitLines(edited);
    const auto end = std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first;
    return static_cast<std::size_t>(end - before.begin());
  }

  void ExpectFound(const RealLog& log, const Edit& edit) {
    const LogCheck check = Check(edit.text);
    const std::size_t same = SameLines(log.text, edit.text);
    // Whatever the edit was: no record from it on is said to hold.
    EXPECT_EQ(check.records, same);
    if (check.end == LogEnd::kBroken) {
      EXPECT_EQ(check.broken_line, same + 1);
      return;
    }
    // An edit of an open log's end looks as if its writer had been stopped; so does one that takes a newline
    // away.
    EXPECT_EQ(check.end, LogEnd::kTorn);
    EXPECT_NE(edit.text.back(), '\n');
    EXPECT_EQ(same + 1, SplitLines(edit.text).size()) << "what is torn is the last line";
    EXPECT_EQ(Check(edit.text, {.head = log.head}).end,
              same == SplitLines(log.text).size() ? LogEnd::kTorn : LogEnd::kBroken);
  }

  void ExpectFoundByKeyOrHead(const RealLog& log, const Edit& edit) {
    const LogCheck check = Check(edit.text);
    EXPECT_TRUE(check.holds()) << "nothing in the log can tell: " << check.problem;
    EXPECT_EQ(Check(edit.text, {.head = log.head}).end, LogEnd::kBroken);
    if (!log.is_signed) return;
    const LogCheck by_key = Check(edit.text, {.key = *SigningKey::Load(folder_ / "key.pub")});
    if (by_key.end == LogEnd::kBroken) return;
    // Behind the last signature of an open log nothing is signed, and it says so.
    EXPECT_FALSE(log.is_sealed) << "a sealed log is signed to its end";
    EXPECT_LE(*by_key.signed_records, SameLines(log.text, edit.text));
  }

  TemporaryFolder folder_;
  std::string written_;
  std::mt19937 random_;
  std::vector<RealLog> logs_;
};

TEST_F(LogMutationTest, TheLogsAreReal) {
  for (const RealLog& log : logs_) {
    const LogCheck check = Check(log.text);
    EXPECT_EQ(check.end, log.is_sealed ? LogEnd::kSealed : LogEnd::kOpen) << log.name << check.problem;
    EXPECT_GT(check.records, 50u);
    for (const char* kind :
         {"session", "set", "put_file", "cell", "verdict", "approval", "decision", "tool_call", "tool_result",
          "refusal", "import", "open", "state", "cell_end", "session_end"})
      EXPECT_NE(log.text.find("\"kind\":\"" + std::string(kind) + "\""), std::string::npos) << kind;
    if (!log.is_signed) continue;
    EXPECT_TRUE(Check(log.text, {.key = *SigningKey::Load(folder_ / "key.pub")}).holds()) << log.name;
  }
}

TEST_F(LogMutationTest, EveryEditIsFoundWhereItCanBe) {
  for (int i = 0; i < kEdits && !HasFailure(); ++i) {
    const RealLog& log = logs_[static_cast<std::size_t>(i) % logs_.size()];
    const Edit edit = AnyEdit(log.text);
    SCOPED_TRACE(log.name + ", edit " + std::to_string(i) + ": " + edit.what);
    edit.is_recomputed ? ExpectFoundByKeyOrHead(log, edit) : ExpectFound(log, edit);
  }
}

TEST_F(LogMutationTest, ACutTailIsAnOpenOrATornEndAndTheRestHolds) {
  for (const RealLog& log : logs_) {
    const std::vector<std::string> lines = SplitLines(log.text);
    // All bytes about each line's end, and random ones.
    std::vector<std::size_t> cuts;
    std::size_t end = 0;
    for (const std::string& line : lines) {
      for (const std::size_t before : {0, 1, 2})
        cuts.push_back((end += before == 0 ? line.size() : 0) - before);
    }
    for (int i = 0; i < 200; ++i) cuts.push_back(Below(log.text.size()));
    for (const std::size_t cut : cuts) {
      if (cut == log.text.size()) continue;
      const std::string text = log.text.substr(0, cut);
      const LogCheck check = Check(text);
      const bool at_line = text.empty() || text.back() == '\n';
      EXPECT_EQ(check.end, at_line ? LogEnd::kOpen : LogEnd::kTorn) << log.name << ", cut at " << cut;
      EXPECT_EQ(check.records, std::count(text.begin(), text.end(), '\n')) << log.name << ", cut at " << cut;
      EXPECT_EQ(Check(text, {.head = log.head}).end, LogEnd::kBroken) << "the head says that it is cut";
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gloveport
