#include "gloveport/core/record/log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/core/host/sha256.h"
#include "gloveport/core/record/audit_log.h"

#include "temporary_log.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

class LogReaderTest : public testing::Test {
 protected:
  LogReaderTest() {
    EXPECT_TRUE(SigningKey::Generate(folder_ / "key"));
    EXPECT_TRUE(SigningKey::Generate(folder_ / "other"));
  }

  // Two cells of one session.
  std::string Write(std::optional<SigningKey> key, bool sealed) {
    const auto path = folder_ / "log";
    std::filesystem::remove(path);
    auto log = AuditLog::Create(path, {.key = std::move(key)});
    EXPECT_TRUE(log) << log.error().message;
    SessionFacts facts;
    facts.session = "s1";
    (*log)->OnSessionOpen(facts);
    for (const std::uint32_t cell : {0u, 1u}) {
      (*log)->OnCellStart("s1", cell, "1 + 1");
      CellResult result;
      result.cell = cell;
      (*log)->OnCellEnd("s1", result);
    }
    if (sealed) {
      EXPECT_TRUE((*log)->Seal());
    }
    head_ = (*log)->head();
    return ReadText(path);
  }
  LogCheck Check(std::string_view text, const LogCheckOptions& options = {}) {
    WriteText(folder_ / "copy", text);
    const auto check = CheckLog(folder_ / "copy", options);
    EXPECT_TRUE(check) << check.error().message;
    return *check;
  }
  SigningKey Secret() { return *SigningKey::Load(folder_ / "key"); }
  LogCheckOptions ByKey(std::string_view name = "key.pub") {
    return {.key = *SigningKey::Load(folder_ / name)};
  }

  TemporaryFolder folder_;
  std::string head_;
};

TEST_F(LogReaderTest, AWholeLogIsSealedOneWithoutASealIsOpen) {
  const LogCheck sealed = Check(Write({}, true));
  EXPECT_EQ(sealed.end, LogEnd::kSealed) << sealed.problem;
  EXPECT_EQ(sealed.records, 6u);
  EXPECT_EQ(sealed.head, head_);
  const LogCheck open = Check(Write({}, false));
  EXPECT_EQ(open.end, LogEnd::kOpen) << open.problem;
  EXPECT_EQ(open.records, 5u);
  EXPECT_TRUE(open.holds());
  EXPECT_EQ(Check("").records, 0u);
}

TEST_F(LogReaderTest, ALineThatIsNotWholeIsTornAndTheRecordsBeforeItHold) {
  const std::string text = Write({}, false);
  const LogCheck torn = Check(text.substr(0, text.size() - 1));
  EXPECT_EQ(torn.end, LogEnd::kTorn);
  EXPECT_EQ(torn.records, 4u);
  EXPECT_EQ(torn.broken_line, 5u);
  EXPECT_TRUE(torn.holds());
}

TEST_F(LogReaderTest, NothingComesAfterTheSeal) {
  const std::string text = Write({}, true);
  for (const std::string& more : {std::string("\n"), std::string("x"), SplitLines(text).back()}) {
    const LogCheck check = Check(text + more);
    EXPECT_EQ(check.end, LogEnd::kBroken) << more;
    EXPECT_EQ(check.records, 6u);
  }
}

TEST_F(LogReaderTest, TheFirstRecordThatDoesNotHoldIsNamed) {
  std::vector<std::string> lines = SplitLines(Write({}, true));
  lines[2].replace(lines[2].find("cell_end"), 8, "cell_bad");
  const LogCheck check = Check(JoinLines(lines));
  EXPECT_EQ(check.end, LogEnd::kBroken);
  EXPECT_EQ(check.broken_line, 3u);
  EXPECT_EQ(check.records, 2u);
  EXPECT_THAT(check.problem, HasSubstr("does not fit its hash"));
}

TEST_F(LogReaderTest, EachCellsEndAndTheSealAreSigned) {
  const std::string text = Write(Secret(), true);
  const LogCheck check = Check(text, ByKey());
  EXPECT_EQ(check.end, LogEnd::kSealed) << check.problem;
  EXPECT_EQ(check.signatures, 3u);
  EXPECT_EQ(check.signed_records, check.records - 1);
  EXPECT_EQ(Check(text).unchecked_signatures, 3u);
}

TEST_F(LogReaderTest, AnotherKeyOrNoSignatureIsFound) {
  EXPECT_THAT(Check(Write(Secret(), true), ByKey("other.pub")).problem, HasSubstr("another key"));
  EXPECT_THAT(Check(Write({}, true), ByKey()).problem, HasSubstr("not signed by the key"));
  const LogCheck open = Check(Write({}, false), ByKey());
  EXPECT_EQ(open.end, LogEnd::kBroken);
  EXPECT_THAT(open.problem, HasSubstr("no signature of the key"));
}

TEST_F(LogReaderTest, ASignatureElsewhereIsWrong) {
  std::vector<std::string> lines = SplitLines(Write(Secret(), true));
  // The first signature in the place of the second: the chain is made anew, the signatures are real.
  std::size_t first = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(R"("kind":"signature")") == std::string::npos) continue;
    if (first == 0) {
      first = i;
    } else {
      lines[i] = lines[first];
    }
  }
  const std::string text = Rechain(lines);
  EXPECT_TRUE(Check(text).holds());
  EXPECT_THAT(Check(text, ByKey()).problem, HasSubstr("signature is wrong"));
}

// A head's signature must not pass for a seal: else any log could be cut behind one and sealed.
TEST_F(LogReaderTest, AHeadsSignatureIsNoSeal) {
  std::vector<std::string> lines = SplitLines(Write(Secret(), false));
  ASSERT_THAT(lines.back(), HasSubstr(R"("kind":"signature")"));
  Json seal = Json::parse(lines.back());
  seal["kind"] = "seal";
  lines.back() = seal.dump() + "\n";
  EXPECT_THAT(Check(Rechain(lines), ByKey()).problem, HasSubstr("signature is wrong"));
}

// Real signatures up to a cell, then what somebody else wrote, with a seal that anybody can make.
TEST_F(LogReaderTest, AnUnsignedSealBehindSignedRecordsIsFound) {
  std::vector<std::string> lines = SplitLines(Write(Secret(), false));
  lines.push_back(R"({"kind":"cell","session":"s1","cell":2,"code":"invented"})");
  lines.push_back(R"({"kind":"seal"})");
  const std::string text = Rechain(lines);
  EXPECT_EQ(Check(text).end, LogEnd::kSealed);
  const LogCheck check = Check(text, ByKey());
  EXPECT_EQ(check.end, LogEnd::kBroken);
  EXPECT_EQ(check.broken_line, lines.size());
  // Without the seal no signature is missing, and it is said how far they reach.
  lines.pop_back();
  const LogCheck open = Check(Rechain(lines), ByKey());
  EXPECT_EQ(open.end, LogEnd::kOpen);
  EXPECT_LT(*open.signed_records, open.records - 1);
}

TEST_F(LogReaderTest, ASignatureRecordWithoutASignatureIsFound) {
  std::vector<std::string> lines = SplitLines(Write({}, false));
  lines.push_back(R"({"kind":"signature"})");
  EXPECT_EQ(Check(Rechain(lines)).end, LogEnd::kBroken);
}

TEST_F(LogReaderTest, AHeadThatWasKeptElsewhereIsLookedFor) {
  const std::string text = Write({}, true);
  const LogCheckOptions options{.head = head_};
  EXPECT_EQ(Check(text, options).end, LogEnd::kSealed);
  std::vector<std::string> lines = SplitLines(text);
  lines[1].replace(lines[1].find("1 + 1"), 5, "1 + 2");
  const std::string recomputed = Rechain(lines);
  EXPECT_EQ(Check(recomputed).end, LogEnd::kSealed) << "nothing in it can tell";
  EXPECT_THAT(Check(recomputed, options).problem, HasSubstr("head hash"));
  lines = SplitLines(text);
  lines.pop_back();
  EXPECT_THAT(Check(JoinLines(lines), options).problem, HasSubstr("head hash")) << "a cut log";
}

TEST_F(LogReaderTest, TheHeadOfAnOpenLogMayLieBeforeItsEnd) {
  const std::string text = Write({}, false);
  const auto record = ReadRecord(std::string_view(text).substr(0, text.find('\n')));
  EXPECT_EQ(Check(text, {.head = record->hash}).end, LogEnd::kOpen);
}

TEST_F(LogReaderTest, WhatCannotBeReadIsAnErrorOfTheFile) {
  EXPECT_EQ(CheckLog(folder_ / "none").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(CheckLog(folder_ / "").error().code, ErrorCode::kIo) << "a folder";
}

TEST_F(LogReaderTest, ReadLogGivesTheRecordsOfALogThatHolds) {
  (void)Write({}, true);
  const auto records = ReadLog(folder_ / "log");
  ASSERT_TRUE(records);
  EXPECT_EQ(records->size(), 6u);
  EXPECT_EQ((*records)[1]["code"], "1 + 1");
  WriteText(folder_ / "log", "nonsense\n");
  EXPECT_THAT(ReadLog(folder_ / "log").error().message, HasSubstr("line 1"));
}

}  // namespace
}  // namespace gloveport
