#include "fake_runtime.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <utility>

namespace gloveport {
namespace {

class FakeSession : public Session {
 public:
  FakeSession(SessionOptions options, std::atomic<int>& count) : options_(std::move(options)), count_(count) {
    ++count_;
  }
  ~FakeSession() override {
    FakeSession::Close();
    --count_;
  }

  const std::string& id() const override { return id_; }
  const Policy& policy() const override { return options_.policy; }
  const std::vector<LayerStatus>& layers() const override { return layers_; }

  Result<CellResult> Run(std::string_view code, const RunOptions& options) override {
    if (options.inspect == InspectMode::kOff && policy().inspection == Inspection::kRequired) {
      return Fail(ErrorCode::kDenied, "inspection is required");
    }
    CellResult result;
    result.cell = cells_++;
    const auto space = code.find(' ');
    const std::string_view command = code.substr(0, space);
    const std::string_view rest = space == std::string_view::npos ? "" : code.substr(space + 1);
    if (command == "print") {
      Print(Stream::kStdout, rest, result.out);
    } else if (command == "eprint") {
      Print(Stream::kStderr, rest, result.err);
    } else if (command == "call") {
      CallTool(std::string(rest), result);
    } else if (command == "block") {
      Block(result);
    } else {
      SetValue(Value(code), result);
    }
    return result;
  }

  void RunAsync(std::string code, RunOptions options, std::function<void(Result<CellResult>)> done) override {
    done(Run(code, options));
  }

  Result<Completions> Complete(std::string_view code, std::optional<std::size_t> cursor) override {
    return Completions{{std::string(code)}, 0, cursor.value_or(code.size())};
  }
  Result<NameInfo> Inspect(std::string_view code, std::optional<std::size_t>) override {
    NameInfo info;
    info.found = code == "known";
    info.name = code;
    info.type = "str";
    return info;
  }
  Result<CodeState> IsComplete(std::string_view) override {
    return CodeState{Completeness::kIncomplete, "    "};
  }

  Status Interrupt() override {
    const std::lock_guard lock(mutex_);
    interrupted_ = running_;
    changed_.notify_all();
    if (running_) stop_.request_stop();
    return {};
  }

  std::vector<Grant> Grants() const override { return {}; }
  Status RevokeGrant(std::string_view) override { return {}; }

  Status SetVariable(std::string_view name, const Value& value) override {
    variables_.insert_or_assign(std::string(name), value);
    return {};
  }
  Result<Value> GetVariable(std::string_view name) override {
    const auto found = variables_.find(std::string(name));
    if (found == variables_.end()) return Fail(ErrorCode::kNotFound, "no such variable");
    return found->second;
  }
  Result<std::string> Checkpoint() override { return NotHere(); }
  Status Rollback(std::string_view) override { return NotHere(); }
  Status Forget(std::string_view) override { return NotHere(); }
  Result<std::vector<std::unique_ptr<Session>>> Branch(
      std::size_t, const std::function<BranchOptions(std::size_t)>&) override {
    return NotHere();
  }
  Status PutFile(std::string_view path, std::span<const std::byte> data) override {
    files_[std::string(path)].assign(data.begin(), data.end());
    return {};
  }
  Result<std::vector<std::byte>> GetFile(std::string_view path) override {
    const auto found = files_.find(std::string(path));
    if (found == files_.end()) return Fail(ErrorCode::kNotFound, "no such file");
    return found->second;
  }
  Result<std::vector<FileInfo>> ListFiles() override {
    std::vector<FileInfo> list;
    for (const auto& [path, data] : files_) list.push_back({path, data.size()});
    return list;
  }
  Status RemoveFile(std::string_view path) override {
    if (files_.erase(std::string(path)) == 0) return Fail(ErrorCode::kNotFound, "no such file");
    return {};
  }

  void Close() override {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    stop_.request_stop();
    changed_.notify_all();
  }

 private:
  static tl::unexpected<Error> NotHere() { return Fail(ErrorCode::kDenied, "a fake cannot be copied"); }
  void Print(Stream stream, std::string_view text, std::string& kept) {
    // In two pieces, cut anywhere: as a pipe would.
    const std::size_t half = text.size() / 2;
    options_.sink->OnOutput(id_, 0, stream, text.substr(0, half));
    options_.sink->OnOutput(id_, 0, stream, text.substr(half));
    kept = text;
  }

  static void SetValue(Value value, CellResult& result) {
    result.value = std::move(value);
    result.repr = "repr";
    result.type = "str";
  }

  void CallTool(const std::string& name, CellResult& result) {
    const auto tool = options_.tools->Find(name);
    Value::Map arguments;
    for (const Parameter& parameter : tool->spec().parameters) {
      arguments.emplace_back(Value(parameter.name), parameter.default_value.value_or(Value()));
    }
    CallContext context;
    {
      const std::lock_guard lock(mutex_);
      running_ = true;
      context.stop = stop_.get_token();
    }
    auto answer = tool->Call(Arguments(std::move(arguments)), context);
    {
      const std::lock_guard lock(mutex_);
      running_ = false;
    }
    if (answer) return SetValue(*answer, result);
    result.outcome = Outcome::kError;
    result.error = PythonError{"ToolError", answer.error().message, 1, 0, ""};
  }

  void Block(CellResult& result) {
    std::unique_lock lock(mutex_);
    running_ = true;
    lock.unlock();
    options_.sink->OnOutput(id_, 0, Stream::kStdout, "blocking");
    lock.lock();
    changed_.wait(lock, [this] { return interrupted_ || closed_; });
    running_ = false;
    result.outcome = closed_ ? Outcome::kKilled : Outcome::kError;
    result.error = PythonError{closed_ ? "SessionClosed" : "KeyboardInterrupt", "", 1, 0, ""};
    interrupted_ = false;
  }

  const std::string id_ = "fake";
  const SessionOptions options_;
  std::atomic<int>& count_;
  const std::vector<LayerStatus> layers_ = {{"fake", true, "no process at all", ""}};
  std::uint32_t cells_ = 0;
  std::map<std::string, Value> variables_;
  std::map<std::string, std::vector<std::byte>> files_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::stop_source stop_;
  bool running_ = false;
  bool interrupted_ = false;
  bool closed_ = false;
};

}  // namespace

Result<std::unique_ptr<Session>> FakeRuntime::Open(SessionOptions options) {
  if (fail_to_open) return Fail(ErrorCode::kConfinementUnavailable, "no seccomp here", "use another kernel");
  return std::make_unique<FakeSession>(std::move(options), open_sessions);
}

Result<Verdict> FakeRuntime::Check(const Policy& policy, std::string_view code,
                                   const std::vector<std::string>& tools) {
  if (code.find("forbidden") == std::string_view::npos) return Verdict();
  return Verdict{
      Decision::kDeny,
      {{"import", 2, 3, policy.name + " refuses " + std::to_string(tools.size()) + " tools", "leave it"}}};
}

Result<Explanation> FakeRuntime::Explain(const Policy& policy, std::string_view code,
                                         const std::vector<std::string>& tools) {
  ASSIGN_OR_RETURN(Verdict verdict, Check(policy, code, tools));
  return Explanation{std::move(verdict), {}};
}

Result<SyntaxInfo> FakeRuntime::Syntax(std::string_view) {
  return SyntaxInfo{.complete = true, .has_action = true};
}

Result<std::vector<SchemaError>> FakeRuntime::Validate(const Value& value, const Value& schema) {
  if (schema.TextOr("type", "") == "integer" && !value.is_int()) {
    return std::vector<SchemaError>{{"/0", "is no integer"}};
  }
  return std::vector<SchemaError>();
}

Result<std::vector<LayerStatus>> FakeRuntime::ProbeLayers() { return std::vector<LayerStatus>(); }

}  // namespace gloveport
