#include "gloveport/core/record/log_reader.h"

#include <fmt/core.h>

#include <cerrno>
#include <fstream>
#include <utility>

#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

// A line at a time: a log may be larger than memory.
class Lines {
 public:
  explicit Lines(const std::filesystem::path& path) : file_(path, std::ios::binary) {}

  bool opened() const { return file_.is_open(); }
  bool failed() const { return failed_; }

  // False at the end. `whole` where the line had its newline.
  bool Next(std::string& line, bool& whole) {
    line.clear();
    whole = false;
    for (int c = Get(); c != std::char_traits<char>::eof(); c = Get()) {
      if (c == '\n') {
        whole = true;
        return true;
      }
      line.push_back(static_cast<char>(c));
      if (line.size() > kMaxRecordBytes) return true;  // no record: ReadRecord says so
    }
    return !line.empty();
  }

 private:
  // A buffer throws where reading fails.
  int Get() {
    try {
      return buffer_->sbumpc();
    } catch (const std::ios_base::failure&) {
      failed_ = true;
      return std::char_traits<char>::eof();
    }
  }

  std::ifstream file_;
  std::streambuf* buffer_ = file_.rdbuf();
  bool failed_ = false;
};

class Checker {
 public:
  explicit Checker(const LogCheckOptions& options) : options_(options), head_seen_(!options.head) {}

  bool sealed() const { return sealed_; }

  // Why the record cannot stand where it does.
  Status Take(const ChainedRecord& record) {
    if (sealed_) return Fail(ErrorCode::kProtocol, "it comes after the seal");
    const ChainHead before = head_;
    RETURN_IF_ERROR(Follow(head_, record));
    const std::string& kind = record.body["kind"].get_ref<const std::string&>();
    sealed_ = kind == "seal";
    if (sealed_ && CountOf(record.body, "records") != before.next_seq)
      return Fail(ErrorCode::kProtocol, "the seal speaks of another number of records");
    if (sealed_ || kind == "signature") RETURN_IF_ERROR(CheckSignature(record, before));
    if (options_.head && head_.hash == *options_.head) head_seen_ = true;
    ++check_.records;
    check_.head = head_.hash;
    return {};
  }

  LogCheck Finish() {
    if (sealed_ && check_.end == LogEnd::kOpen) check_.end = LogEnd::kSealed;
    if (check_.end == LogEnd::kBroken) return std::move(check_);
    if (!head_seen_)
      Break(std::nullopt, "no record has the head hash that was given: the chain is another one, or cut");
    else if (options_.key && check_.signatures == 0)
      Break(std::nullopt,
            "no signature of the key that was given: whoever can write the file can have written all of it");
    return std::move(check_);
  }

  void Break(std::optional<std::uint64_t> line, std::string problem) {
    check_.end = LogEnd::kBroken;
    check_.broken_line = line;
    check_.problem = std::move(problem);
  }
  void Tear(std::uint64_t line, std::string problem) {
    check_.end = LogEnd::kTorn;
    check_.broken_line = line;
    check_.problem = std::move(problem);
  }

 private:
  Status CheckSignature(const ChainedRecord& record, const ChainHead& before) {
    const auto signature = record.body.find("signature");
    if (signature == record.body.end()) {
      if (!sealed_) return Fail(ErrorCode::kProtocol, "it is a signature without one");
      // A log that is signed has a signed seal: anybody could have put this one behind records of his own.
      if (options_.key) return Fail(ErrorCode::kProtocol, "the seal is not signed by the key that was given");
      return {};
    }
    if (!options_.key) return ++check_.unchecked_signatures, Status();
    const std::string_view context = sealed_ ? kSealContext : kHeadContext;
    if (TextOf(record.body, "key") != options_.key->id())
      return Fail(ErrorCode::kProtocol, "it is signed by another key than the one that was given");
    if (!signature->is_string() ||
        !options_.key->Verify(SignedText(context, before), signature->get_ref<const std::string&>()))
      return Fail(ErrorCode::kProtocol, "its signature is wrong");
    ++check_.signatures;
    check_.signed_records = before.next_seq;
    return {};
  }

  const LogCheckOptions& options_;
  ChainHead head_;
  LogCheck check_;
  bool sealed_ = false;
  bool head_seen_;
};

}  // namespace

std::string_view LogEndName(LogEnd end) {
  switch (end) {
    case LogEnd::kSealed:
      return "sealed";
    case LogEnd::kOpen:
      return "open end";
    case LogEnd::kTorn:
      return "torn end";
    case LogEnd::kBroken:
      return "broken";
  }
  return "";
}

Result<LogCheck> CheckLog(const std::filesystem::path& path, const LogCheckOptions& options,
                          const std::function<void(const ChainedRecord&)>& take) {
  errno = 0;
  Lines lines(path);
  if (!lines.opened())
    return FailErrno(fmt::format("cannot read {}", path.string()), errno == 0 ? EIO : errno);
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    return Fail(ErrorCode::kIo, fmt::format("cannot read {}: it is a folder", path.string()));
  Checker checker(options);
  std::string line;
  bool whole = false;
  for (std::uint64_t number = 1; lines.Next(line, whole); ++number) {
    if (!whole && line.size() <= kMaxRecordBytes && !checker.sealed()) {
      checker.Tear(number, "the last line is not whole: the writer was stopped in the middle of it");
      break;
    }
    auto record = ReadRecord(line);
    if (!record) {
      checker.Break(number, record.error().message);
      break;
    }
    if (const Status fits = checker.Take(*record); !fits) {
      checker.Break(number, fits.error().message);
      break;
    }
    if (take) take(*record);
  }
  if (lines.failed()) return Fail(ErrorCode::kIo, fmt::format("cannot read {}", path.string()));
  return checker.Finish();
}

Result<std::vector<Json>> ReadLog(const std::filesystem::path& path) {
  std::vector<Json> records;
  ASSIGN_OR_RETURN(const LogCheck check,
                   CheckLog(path, {}, [&](const ChainedRecord& record) { records.push_back(record.body); }));
  if (check.holds()) return records;
  return Fail(ErrorCode::kProtocol,
              fmt::format("{} is not as it was written: line {}: {}", path.string(),
                          check.broken_line.value_or(0), check.problem),
              "`gloveport audit verify` says more");
}

}  // namespace gloveport
