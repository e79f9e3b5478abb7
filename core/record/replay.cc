#include "gloveport/core/record/replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/record/audit_log.h"
#include "gloveport/core/record/record_compare.h"
#include "gloveport/core/record/replay_tools.h"
#include "gloveport/core/wire/json_members.h"
#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

// What the sessions of the replay tell while they run, by their own ids.
class NewRecords {
 public:
  void Take(const Json& record) {
    const std::lock_guard lock(mutex_);
    records_[TextOf(record, "session")].push_back(record);
  }
  std::vector<Json> TakeOf(const std::string& session) {
    const std::lock_guard lock(mutex_);
    return std::exchange(records_[session], {});
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<Json>> records_;
};

struct Followed {
  std::unique_ptr<Session> session;
  std::shared_ptr<RecordedAnswers> answers = std::make_shared<RecordedAnswers>();
  std::shared_ptr<RecordedApprover> approver = std::make_shared<RecordedApprover>();
  std::map<std::string, std::string> checkpoints;  // recorded name to the new one
  Json tools;
};

class Replayer {
 public:
  Replayer(const std::vector<Json>& records, const ReplayOptions& options)
      : records_(records), options_(options) {}

  Status Run() {
    RuntimeOptions runtime = options_.runtime;
    runtime.record = AuditLog::Into([news = news_](const Json& record) { news->Take(record); });
    ASSIGN_OR_RETURN(runtime_, Runtime::Create(runtime));
    for (at_ = 0; at_ < records_.size(); ++at_) RETURN_IF_ERROR(Repeat(records_[at_]));
    if (report_.sessions == 0)
      return Fail(ErrorCode::kInvalidArgument, "the log has no session: there is nothing to replay");
    return {};
  }

  ReplayReport TakeReport() { return std::move(report_); }
  Resumed TakeAll() {
    Resumed resumed;
    resumed.runtime = std::move(runtime_);
    for (auto& [id, followed] : followed_) {
      if (followed.session) resumed.sessions.emplace(id, std::move(followed.session));
    }
    resumed.report = std::move(report_);
    return resumed;
  }

 private:
  Status Repeat(const Json& record) {
    const std::string kind = TextOf(record, "kind");
    const std::string id = TextOf(record, "session");
    if (kind == "session") return Open(record, id);
    const auto found = followed_.find(id);
    if (found == followed_.end() || !found->second.session) return {};
    Followed& followed = found->second;
    if (kind == "cell") return RunCell(record, id, followed);
    if (kind == "set") return SetVariable(record, followed);
    if (kind == "put_file") return PutFile(record, followed);
    if (kind == "remove_file") return (void)followed.session->RemoveFile(TextOf(record, "path")), Status();
    if (kind == "state") return ChangeState(record, followed);
    if (kind == "grant_revoked")
      return (void)followed.session->RevokeGrant(TextOf(record, "grant")), Status();
    if (kind == "files" || kind == "session_end") return End(record, id, followed);
    return {};
  }

  Status Open(const Json& record, const std::string& id) {
    Followed followed;
    followed.tools = MemberOf(record, "tools");
    CollectAnswers(id, followed);
    ++report_.sessions;
    if (const std::string parent = TextOf(record, "branch_of"); !parent.empty()) {
      RETURN_IF_ERROR(Branch(parent, followed));
    } else {
      SessionOptions session;
      ASSIGN_OR_RETURN(session.policy,
                       ParsePolicy(DumpJson(MemberOf(record, "policy")), "the record's policy"));
      if (const Json& seed = MemberOf(record, "seed"); seed.is_number_unsigned())
        session.seed = seed.get<std::uint64_t>();
      if (!TextOf(record, "workdir").empty())
        report_.gaps.push_back(
            fmt::format("session {} worked in the host folder {}: it is given a fresh folder", id,
                        TextOf(record, "workdir")));
      ASSIGN_OR_RETURN(session.tools, ReplayTools(followed.tools, followed.answers, options_.live_tools));
      session.approver = followed.approver;
      ASSIGN_OR_RETURN(followed.session, runtime_->Open(std::move(session)));
    }
    followed_.insert_or_assign(id, std::move(followed));
    return {};
  }

  Status Branch(const std::string& parent, Followed& followed) {
    const auto original = followed_.find(parent);
    if (original == followed_.end() || !original->second.session)
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("the record has a branch of session {}, which is not there", parent));
    ASSIGN_OR_RETURN(auto tools, ReplayTools(followed.tools, followed.answers, options_.live_tools));
    ASSIGN_OR_RETURN(auto branches, original->second.session->Branch(1, [&](std::size_t) {
      return BranchOptions{tools, nullptr, followed.approver};
    }));
    followed.checkpoints.clear();
    followed.session = std::move(branches.front());
    return {};
  }

  // All answers and decisions of a session are known before its first cell.
  void CollectAnswers(const std::string& id, Followed& followed) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, Json> calls;  // by cell and call
    std::set<std::uint64_t> asked;
    for (std::size_t i = at_; i < records_.size(); ++i) {
      const Json& record = records_[i];
      if (TextOf(record, "session") != id) continue;
      const std::string kind = TextOf(record, "kind");
      if (kind == "approval") asked.insert(CountOf(record, "approval"));
      // What a grant decided nobody was asked about, nor will be.
      if (kind == "decision" && asked.contains(CountOf(record, "approval"))) followed.approver->Add(record);
      const auto key = std::pair(CountOf(record, "cell"), CountOf(record, "call"));
      if (kind == "tool_call") calls[key] = record;
      if (kind == "tool_result") {
        if (const auto call = calls.find(key); call != calls.end())
          followed.answers->Add(call->second, record);
      }
    }
  }

  Status RunCell(const Json& record, const std::string& id, Followed& followed) {
    const std::uint64_t cell = CountOf(record, "cell");
    const std::vector<Json> then = RecordsOfCell(id, cell);
    if (then.empty() || TextOf(then.back(), "kind") != "cell_end") {
      report_.gaps.push_back(
          fmt::format("cell {} of session {} has no end in the record: not repeated", cell, id));
      return {};
    }
    if (FlagOf(record, "redacted"))
      report_.gaps.push_back(
          fmt::format("cell {} of session {} had a secret in it: it runs without", cell, id));
    RunOptions options;
    const bool judged =
        std::ranges::any_of(then, [](const Json& r) { return TextOf(r, "kind") == "verdict"; });
    options.inspect = judged ? InspectMode::kAsPolicySays : InspectMode::kOff;
    if (const Json& offset = MemberOf(then.back(), "clock_offset_ns"); offset.is_number_integer())
      options.clock_offset = std::chrono::nanoseconds(offset.get<std::int64_t>());
    // Each cell may have had a time limit of its own, which tells only where it was reached.
    const Json& limit = MemberOf(then.back(), "limit");
    if (TextOf(limit, "limit") == "wall" && NumberOf(limit, "value") > 0)
      options.timeout = std::chrono::milliseconds(std::llround(NumberOf(limit, "value") * 1000));
    (void)news_->TakeOf(followed.session->id());
    ASSIGN_OR_RETURN(const CellResult result, followed.session->Run(TextOf(record, "code"), options));
    ++report_.cells;
    const std::vector<Json> now = news_->TakeOf(followed.session->id());
    for (CellDifference& difference : CompareCells(then, now))
      report_.divergences.push_back({id, static_cast<std::int64_t>(cell), std::move(difference.what),
                                     std::move(difference.recorded), std::move(difference.now)});
    return {};
  }

  // From the cell's beginning, which at_ is, to its end.
  std::vector<Json> RecordsOfCell(const std::string& id, std::uint64_t cell) const {
    std::vector<Json> found;
    for (std::size_t i = at_; i < records_.size(); ++i) {
      const Json& record = records_[i];
      if (TextOf(record, "session") != id || !record.contains("cell") || CountOf(record, "cell") != cell)
        continue;
      found.push_back(record);
      if (TextOf(record, "kind") == "cell_end") break;
    }
    return found;
  }

  Status SetVariable(const Json& record, Followed& followed) {
    if (!record.contains("value") || FlagOf(record, "redacted")) {
      report_.gaps.push_back(
          fmt::format("the value of the variable {} is not in the record", TextOf(record, "name")));
      return {};
    }
    ASSIGN_OR_RETURN(const Value value, FromJson(record["value"]));
    return followed.session->SetVariable(TextOf(record, "name"), value);
  }

  Status PutFile(const Json& record, Followed& followed) {
    const auto data = DecodeBase64(TextOf(record, "data"));
    if (!record.contains("data") || !data) {
      report_.gaps.push_back(
          fmt::format("the content of the file {} is not in the record", TextOf(record, "path")));
      return {};
    }
    return followed.session->PutFile(TextOf(record, "path"), *data);
  }

  Status ChangeState(const Json& record, Followed& followed) {
    const std::string change = TextOf(record, "change");
    const std::string name = TextOf(record, "name");
    if (change == "checkpoint") {
      ASSIGN_OR_RETURN(followed.checkpoints[name], followed.session->Checkpoint());
    } else if (change == "rollback") {
      return followed.session->Rollback(followed.checkpoints[name]);
    } else if (change == "forget") {
      return followed.session->Forget(followed.checkpoints[name]);
    }
    return {};  // a branch comes with its session, the rest with the cell that caused it
  }

  Status End(const Json& record, const std::string& id, Followed& followed) {
    if (TextOf(record, "kind") == "files") {
      recorded_files_[id] = MemberOf(record, "files");
      return {};
    }
    const std::string own = followed.session->id();
    (void)news_->TakeOf(own);
    followed.session->Close();
    for (const Json& now : news_->TakeOf(own)) {
      if (TextOf(now, "kind") != "files" || !recorded_files_.contains(id)) continue;
      if (recorded_files_[id] != MemberOf(now, "files"))
        report_.divergences.push_back({id, -1, "files", recorded_files_[id], MemberOf(now, "files")});
    }
    followed.session.reset();
    return {};
  }

  const std::vector<Json>& records_;
  const ReplayOptions& options_;
  const std::shared_ptr<NewRecords> news_ = std::make_shared<NewRecords>();
  std::unique_ptr<Runtime> runtime_;          // outlives the sessions
  std::map<std::string, Followed> followed_;  // by recorded id
  std::map<std::string, Json> recorded_files_;
  std::size_t at_ = 0;
  ReplayReport report_;
};

}  // namespace

Result<ReplayReport> Replay(const std::vector<Json>& records, const ReplayOptions& options) {
  Replayer replayer(records, options);
  RETURN_IF_ERROR(replayer.Run());
  return replayer.TakeReport();
}

Result<Resumed> Resume(const std::vector<Json>& records, const ReplayOptions& options) {
  Replayer replayer(records, options);
  RETURN_IF_ERROR(replayer.Run());
  return replayer.TakeAll();
}

Json ToJson(const ReplayReport& report) {
  Json divergences = Json::array();
  for (const Divergence& divergence : report.divergences) {
    Json json = {{"session", divergence.session},
                 {"what", divergence.what},
                 {"recorded", divergence.recorded},
                 {"now", divergence.now}};
    if (divergence.cell >= 0) json["cell"] = divergence.cell;
    divergences.push_back(std::move(json));
  }
  return {{"identical", report.divergences.empty()},
          {"sessions", report.sessions},
          {"cells", report.cells},
          {"divergences", std::move(divergences)},
          {"gaps", report.gaps}};
}

}  // namespace gloveport
