#include "gloveport/core/record/audit_log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/record/audit_records.h"
#include "gloveport/core/record/chain.h"
#include "gloveport/core/record/kept_value.h"

namespace gloveport {
namespace {

std::string TimeText(const char* format) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), format, &parts);
  return fmt::format("{}.{:06}Z", text.data(), now.tv_nsec / 1000);
}

bool IsFolder(const std::filesystem::path& path) {
  std::error_code ignored;
  return !path.has_filename() || std::filesystem::is_directory(path, ignored);
}

std::filesystem::path FileFor(const std::filesystem::path& path) {
  if (!IsFolder(path)) return path;
  return path / fmt::format("{}-{}.audit.jsonl", TimeText("%Y%m%dT%H%M%S"), ::getpid());
}

class AuditLogImpl : public AuditLog {
 public:
  AuditLogImpl(std::filesystem::path path, UniqueFd file, AuditLogOptions options)
      : path_(std::move(path)), file_(std::move(file)), options_(std::move(options)) {}
  AuditLogImpl(std::function<void(const Json&)> take, AuditLogOptions options)
      : take_(std::move(take)), options_(std::move(options)) {}

  const std::filesystem::path& path() const override { return path_; }
  std::string head() const override {
    const std::lock_guard lock(mutex_);
    return head_.hash;
  }

  void OnSessionOpen(const SessionFacts& facts) override {
    auto redactor = Redactor::Compile(facts.policy);
    const std::lock_guard lock(mutex_);
    if (!redactor) return FailWith(redactor.error());
    Keeping keeping{std::move(*redactor), options_.max_value_bytes, options_.max_input_bytes,
                    options_.max_text_bytes};
    sessions_.insert_or_assign(facts.session, Followed{std::move(keeping), {}, {}});
    Json record = SessionRecord(facts);
    ShortenModules(record);
    Write("session", facts.session, std::nullopt, std::move(record));
  }
  void OnSessionClose(std::string_view session) override {
    const std::lock_guard lock(mutex_);
    Write("session_end", session, std::nullopt, Json::object());
    sessions_.erase(std::string(session));
  }
  void OnStateChange(std::string_view session, const StateChange& change) override {
    Json record = {{"change", change.kind}};
    if (!change.name.empty()) record["name"] = change.name;
    const std::lock_guard lock(mutex_);
    Write("state", session, std::nullopt, std::move(record));
  }
  void OnVariableSet(std::string_view session, std::string_view name, const Value& value) override {
    Add("set", session, std::nullopt, [&](const Keeping& keeping) {
      Json record = {{"name", name}};
      record.update(KeptValue(keeping.redactor, value, keeping.max_input_bytes));
      return record;
    });
  }
  void OnFilePut(std::string_view session, std::string_view path, std::span<const std::byte> data) override {
    Add("put_file", session, std::nullopt,
        [&](const Keeping& keeping) { return FileRecord(keeping, path, data); });
  }
  void OnFilesAtEnd(std::string_view session, const std::vector<FileDigest>& files) override {
    Add("files", session, std::nullopt, [&](const Keeping& keeping) {
      Json list = Json::array();
      for (const FileDigest& file : files)
        list.push_back({{"path", keeping.redactor.Apply(file.path)},
                        {"bytes", file.size_bytes},
                        {"sha256", file.sha256}});
      return Json{{"files", std::move(list)}};
    });
  }
  void OnFileRemoved(std::string_view session, std::string_view path) override {
    Add("remove_file", session, std::nullopt, [&](const Keeping& keeping) {
      return Json{{"path", keeping.redactor.Apply(path)}};
    });
  }

  void OnCellStart(std::string_view session, std::uint32_t cell, std::string_view code) override {
    Add("cell", session, cell, [&](const Keeping& keeping) { return CellRecord(keeping, code); });
  }
  void OnVerdict(std::string_view session, std::uint32_t cell, const Verdict& verdict) override {
    Add("verdict", session, cell, [&](const Keeping& keeping) { return VerdictRecord(keeping, verdict); });
  }
  void OnApprovalAsked(std::string_view session, std::uint32_t cell,
                       const ApprovalRequest& request) override {
    Add("approval", session, cell, [&](const Keeping& keeping) { return AskedRecord(keeping, request); });
  }
  void OnApprovalDecided(std::string_view session, std::uint32_t cell, const ApprovalRequest& request,
                         const ApprovalDecision& decision) override {
    Add("decision", session, cell,
        [&](const Keeping& keeping) { return DecidedRecord(keeping, request, decision); });
  }
  void OnGrantRevoked(std::string_view session, std::string_view grant) override {
    Add("grant_revoked", session, std::nullopt, [&](const Keeping& keeping) {
      return Json{{"grant", keeping.redactor.Apply(grant)}};
    });
  }
  void OnToolStart(std::string_view session, std::uint32_t cell, std::uint64_t call, std::string_view tool,
                   const Value& arguments) override {
    Add("tool_call", session, cell,
        [&](const Keeping& keeping) { return ToolCallBody(keeping, call, tool, arguments); });
  }
  void OnToolCall(std::string_view session, std::uint32_t cell, const ToolCallRecord& call) override {
    Add("tool_result", session, cell, [&](const Keeping& keeping) { return ToolResultBody(keeping, call); });
  }
  void OnOutput(std::string_view session, std::uint32_t, Stream stream, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    const auto followed = sessions_.find(session);
    if (followed == sessions_.end()) return;
    OutputDigest& digest = stream == Stream::kStdout ? followed->second.out : followed->second.err;
    digest.Add(text, options_.max_text_bytes);
  }
  void OnDisplay(std::string_view session, std::uint32_t cell, const Value& bundle) override {
    Add("display", session, cell, [&](const Keeping& keeping) { return DisplayRecord(keeping, bundle); });
  }
  void OnRefusal(std::string_view session, std::uint32_t cell, const Refusal& refusal) override {
    Add("refusal", session, cell, [&](const Keeping& keeping) { return RefusalRecord(keeping, refusal); });
  }
  bool wants_counters() const override { return true; }
  void OnFileOpen(std::string_view session, std::uint32_t cell, const FileOpen& open) override {
    Add("open", session, cell, [&](const Keeping& keeping) {
      return Json{{"source", open.source},
                  {"path", keeping.redactor.Apply(open.path)},
                  {"mode", open.mode},
                  {"allowed", open.allowed}};
    });
  }
  void OnImport(std::string_view session, std::uint32_t cell, std::string_view module,
                bool allowed) override {
    Add("import", session, cell, [&](const Keeping& keeping) {
      return Json{
          {"source", "interpreter"}, {"module", keeping.redactor.Apply(module)}, {"allowed", allowed}};
    });
  }
  void OnCellEnd(std::string_view session, const CellResult& result) override {
    const std::lock_guard lock(mutex_);
    const auto followed = sessions_.find(session);
    if (followed == sessions_.end()) return;
    const Keeping& keeping = followed->second.keeping;
    Json record = CellEndRecord(keeping, result);
    record["stdout"] = followed->second.out.Take(keeping);
    record["stderr"] = followed->second.err.Take(keeping);
    Write("cell_end", session, result.cell, std::move(record));
    Sign();
  }

  void Note(std::string_view kind, const Json& members) override {
    const std::lock_guard lock(mutex_);
    Write(kind, "", std::nullopt, members);
  }

  Status Commit() override {
    const std::lock_guard lock(mutex_);
    if (!failed_ && file_ && options_.durability == AuditDurability::kDisk && ::fdatasync(file_.get()) != 0)
      FailWith({ErrorCode::kIo, fmt::format("cannot flush {}: {}", path_.string(), ::strerror(errno)), ""});
    return failed_ ? Status(tl::unexpected<Error>(*failed_)) : Status();
  }

  Status Seal() override {
    const std::lock_guard lock(mutex_);
    if (!sealed_) {
      Json record = {{"records", head_.next_seq}};
      if (options_.key) AddSignature(record, kSealContext);
      Write("seal", "", std::nullopt, std::move(record));
      sealed_ = true;
      if (!failed_ && file_ && ::fdatasync(file_.get()) != 0 && errno != EINVAL)
        FailWith({ErrorCode::kIo, fmt::format("cannot flush {}: {}", path_.string(), ::strerror(errno)), ""});
    }
    return failed_ ? Status(tl::unexpected<Error>(*failed_)) : Status();
  }

 private:
  struct Followed {
    Keeping keeping;
    OutputDigest out;
    OutputDigest err;
  };

  template <typename MakeBody>
  void Add(std::string_view kind, std::string_view session, std::optional<std::uint32_t> cell,
           MakeBody make) {
    const std::lock_guard lock(mutex_);
    const auto followed = sessions_.find(session);
    if (followed != sessions_.end()) Write(kind, session, cell, make(followed->second.keeping));
  }

  // The rest with mutex_ held.
  void Write(std::string_view kind, std::string_view session, std::optional<std::uint32_t> cell,
             Json members) {
    if (failed_ || sealed_) return;
    Json body = {{"time", TimeText("%Y-%m-%dT%H:%M:%S")}, {"kind", kind}};
    if (!session.empty()) body["session"] = session;
    if (cell) body["cell"] = *cell;
    body.update(members);
    if (take_) return take_(body);
    const std::string line = MakeRecord(head_, body);
    if (const Status written = WriteFull(file_.get(), AsBytes(line), Deadline::Never()); !written)
      FailWith({written.error().code,
                fmt::format("cannot write the audit log {}: {}", path_.string(), written.error().message),
                "make room, and begin a new log: what was recorded so far stands"});
  }

  // After the first failure nothing more is written, and Commit stops what would not be recorded.
  void FailWith(Error error) {
    if (!failed_) failed_ = std::move(error);
  }

  void Sign() {
    if (!options_.key || failed_) return;
    Json record = Json::object();
    AddSignature(record, kHeadContext);
    Write("signature", "", std::nullopt, std::move(record));
  }

  void AddSignature(Json& record, std::string_view context) {
    auto signature = options_.key->Sign(SignedText(context, head_));
    if (!signature) return FailWith(signature.error());
    record["key"] = options_.key->id();
    record["signature"] = std::move(*signature);
  }

  // The modules of one template image are listed once; later sessions refer to that record.
  void ShortenModules(Json& record) {
    if (record["modules"].empty()) return;
    const std::string hash = Sha256Hex(DumpJson(record["modules"]));
    record["modules_sha256"] = hash;
    const auto [listed, is_new] = modules_.try_emplace(hash, head_.next_seq);
    if (is_new) return;
    record["modules"] = Json::array();
    record["modules_in"] = listed->second;
  }

  const std::filesystem::path path_;
  const UniqueFd file_;
  const std::function<void(const Json&)> take_;
  const AuditLogOptions options_;
  mutable std::mutex mutex_;
  ChainHead head_;
  std::map<std::string, Followed, std::less<>> sessions_;
  std::map<std::string, std::uint64_t> modules_;  // hash of a list to the record that has it
  std::optional<Error> failed_;
  bool sealed_ = false;
};

}  // namespace

std::shared_ptr<AuditLog> AuditLog::Into(std::function<void(const Json&)> take, AuditLogOptions options) {
  return std::make_shared<AuditLogImpl>(std::move(take), std::move(options));
}

Result<std::shared_ptr<AuditLog>> AuditLog::Create(const std::filesystem::path& path,
                                                   AuditLogOptions options) {
  if (options.key && !options.key->is_private())
    return Fail(ErrorCode::kInvalidArgument, "the key that is to sign the audit log is a public one",
                "give the private key; the public one is for `gloveport audit verify`");
  std::filesystem::path file = FileFor(path);
  if (IsFolder(path)) {
    std::error_code failed;
    std::filesystem::create_directories(path, failed);
    if (failed)
      return Fail(ErrorCode::kIo,
                  fmt::format("cannot make the folder {}: {}", path.string(), failed.message()));
  }
  UniqueFd opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!opened && errno == EEXIST)
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} exists, and evidence is not overwritten", file.string()),
                "name a new file, or a folder in which each run gets a file of its own");
  if (!opened) return FailErrno(fmt::format("cannot create the audit log {}", file.string()), errno);
  return std::make_shared<AuditLogImpl>(std::move(file), std::move(opened), std::move(options));
}

}  // namespace gloveport
