#include "gloveport/core/serve/served_session.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <string_view>
#include <vector>

#include "gloveport/core/base/text.h"
#include "gloveport/core/host/result_json.h"
#include "gloveport/core/serve/client_tool.h"
#include "gloveport/core/serve/request_policy.h"
#include "gloveport/policy/instant.h"

namespace gloveport {
namespace {

constexpr std::array<std::string_view, 2> kStreamNames = {"stdout", "stderr"};

constexpr double kLongest = 1e9;  // seconds: beyond any limit, and within the range of the clock

std::chrono::milliseconds MillisecondsOf(double seconds) {
  return std::chrono::milliseconds(std::llround(std::ceil(std::min(seconds, kLongest) * 1000)));
}

// "real", or the instant at which the session's clock starts.
Status ReadClock(const std::string& text, Policy& policy) {
  policy.clock = ParseInstant(text);
  if (policy.clock || text == "real") return {};
  return Fail(ErrorCode::kInvalidArgument, fmt::format("open: the clock cannot be \"{}\"", text),
              "write \"real\", or an instant from 1970 to 2200 in UTC: \"2026-01-31T12:00:00Z\"");
}

Result<SessionOptions> ReadOptions(const Request& request, Policy policy) {
  SessionOptions options;
  options.policy = std::move(policy);
  const Json* given = request.Find("options");
  if (given == nullptr) return options;
  if (!given->is_object()) return Fail(ErrorCode::kInvalidArgument, "open: \"options\" must be an object");
  for (const auto& [key, value] : given->items()) {
    if (key == "workdir" && value.is_string()) {
      options.workdir = value.get<std::string>();
    } else if (key == "seed" && value.is_number_unsigned()) {
      options.seed = value.get<std::uint64_t>();
    } else if (key == "clock" && value.is_string()) {
      RETURN_IF_ERROR(ReadClock(value.get<std::string>(), options.policy));
    } else if (key == "idle_timeout_s" && value.is_number() && value.get<double>() > 0) {
      options.idle_timeout = MillisecondsOf(value.get<double>());
    } else if (key == "time_to_live_s" && value.is_number() && value.get<double>() > 0) {
      options.time_to_live = MillisecondsOf(value.get<double>());
    } else if (value.is_null()) {
      continue;
    } else {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("open: option \"{}\" is not understood", key),
                  "options are \"workdir\": path of a host folder, \"seed\": integer from 0, \"clock\": "
                  "\"real\" or an instant, "
                  "\"idle_timeout_s\" and \"time_to_live_s\": numbers above 0");
    }
  }
  return options;
}

}  // namespace

// What the host reports while a cell runs, as events of the run's request.
class ServedSession::Sink : public EventSink {
 public:
  explicit Sink(ServedSession& owner) : owner_(owner) {}
  void OnOutput(std::string_view, std::uint32_t, Stream stream, std::string_view text) override {
    owner_.ForwardOutput(stream, text);
  }
  void OnToolProgress(std::string_view, std::uint32_t, std::uint64_t, std::string_view tool,
                      const ToolProgress& progress) override {
    Json details = {{"name", tool}, {"done", progress.done}};
    if (progress.total) details["total"] = *progress.total;
    if (!progress.message.empty()) details["message"] = progress.message;
    owner_.outbox_.Event(owner_.running(), "tool_progress", std::move(details));
  }

 private:
  ServedSession& owner_;
};

// Asks the client, as an event of the run's request.
class ServedSession::Asker : public Approver {
 public:
  explicit Asker(ServedSession& owner) : owner_(owner) {}
  void Ask(const ApprovalRequest& request, Answer answer) override {
    if (owner_.approvals_.Add(request.id, std::move(answer)))
      owner_.outbox_.Event(owner_.running(), "approval", ApprovalEvent(request, owner_.name_));
  }
  void Withdraw(std::uint64_t id) override {
    owner_.approvals_.Remove(id);
    owner_.outbox_.Event(owner_.running(), "approval_withdrawn", {{"approval", id}});
  }

 private:
  ServedSession& owner_;
};

ServedSession::ServedSession(std::string name, Runtime& runtime, Outbox& outbox, PendingCalls& calls,
                             PendingApprovals& approvals, QuestionDesk& desk, Activity& activity,
                             AddTools add_tools)
    : name_(std::move(name)),
      runtime_(runtime),
      outbox_(outbox),
      calls_(calls),
      approvals_(approvals),
      desk_(desk),
      add_tools_(std::move(add_tools)),
      queue_(activity) {}

ServedSession::~ServedSession() { End(); }

void ServedSession::TakeQuestions() {
  const std::string session = [this] {
    const std::lock_guard lock(mutex_);
    return session_ ? session_->id() : "";
  }();
  if (session.empty()) return;
  desk_.Attach(session, {[this](const ClientQuestion& question) {
                           outbox_.Event(running(), "question", QuestionEvent(question, name_));
                         },
                         [this](std::uint64_t id) {
                           outbox_.Event(running(), "question_withdrawn", {{"question", id}});
                         }});
  attached_ = std::shared_ptr<void>(nullptr, [&desk = desk_, session](void*) { desk.Detach(session); });
}

bool ServedSession::Post(Request request, Handler handler) {
  auto shared = std::make_shared<const Request>(std::move(request));
  return queue_.Post([this, shared, handler] { outbox_.Answer(shared->id(), (this->*handler)(*shared)); });
}

Result<std::shared_ptr<Session>> ServedSession::Use() const {
  const std::lock_guard lock(mutex_);
  if (ended_)
    return Fail(ErrorCode::kClosed, fmt::format("session {} was closed", name_), "open a new session");
  if (!session_) {
    return Fail(ErrorCode::kNotFound, fmt::format("session {} could not be opened", name_),
                "see the error of its open request");
  }
  return session_;
}

Result<std::shared_ptr<const ToolRegistry>> ServedSession::DeclareTools(const Request& request) {
  const Json* tools = request.Find("tools");
  const bool declared = tools != nullptr && !tools->is_null();
  if (declared && !tools->is_array())
    return Fail(ErrorCode::kInvalidArgument, "open: \"tools\" must be a list");
  for (std::size_t i = 0; declared && i < tools->size(); ++i) {
    ASSIGN_OR_RETURN(ToolSpec spec, ParseToolDeclaration((*tools)[i]));
    tools_.push_back(std::move(spec));
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const ToolRegistry> own, MakeTools(tools_));
  if (!add_tools_) return own;
  ASSIGN_OR_RETURN(const std::shared_ptr<const ToolRegistry> all, add_tools_(own));
  const auto& list = all->tools();
  host_tools_.assign(list.begin() + static_cast<std::ptrdiff_t>(own->tools().size()), list.end());
  return all;
}

Result<std::shared_ptr<ToolRegistry>> ServedSession::MakeTools(const std::vector<ToolSpec>& specs) {
  auto registry = std::make_shared<ToolRegistry>();
  for (const ToolSpec& spec : specs) {
    auto forward = [this](const ToolSpec& tool, const Arguments& arguments, CallContext& context) {
      return ForwardCall(tool, arguments, context);
    };
    RETURN_IF_ERROR(registry->Add(std::make_shared<ClientTool>(spec, std::move(forward))));
  }
  return registry;
}

Result<std::unique_ptr<Session>> ServedSession::Start(const Request& request) {
  ASSIGN_OR_RETURN(Policy policy, PolicyOf(request));
  ASSIGN_OR_RETURN(SessionOptions options, ReadOptions(request, std::move(policy)));
  ASSIGN_OR_RETURN(options.tools, DeclareTools(request));
  options.sink = std::make_shared<Sink>(*this);
  options.approver = std::make_shared<Asker>(*this);
  return runtime_.Open(std::move(options));
}

Result<Json> ServedSession::Open(const Request& request) {
  auto started = Start(request);
  {
    const std::lock_guard lock(mutex_);
    failed_ = !started;
    if (!started) return tl::unexpected<Error>(std::move(started).error());
    if (ended_)
      return Fail(ErrorCode::kClosed, fmt::format("session {} was closed while it was opened", name_));
    session_ = std::move(*started);
  }
  TakeQuestions();
  return Json{{"session", name_}, {"layers", ToJson(session_->layers())}};
}

bool ServedSession::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

Result<Json> ServedSession::Run(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string code, request.Text("code"));
  ASSIGN_OR_RETURN(const std::optional<double> timeout, request.PositiveNumber("timeout_s"));
  ASSIGN_OR_RETURN(const bool inspect, request.BoolOr("inspect", true));
  RunOptions options;
  if (timeout) options.timeout = MillisecondsOf(*timeout);
  options.inspect = inspect ? InspectMode::kAsPolicySays : InspectMode::kOff;
  {
    const std::lock_guard lock(mutex_);
    running_ = request.id();
    budget_.Reset(session->policy().limits);
  }
  auto result = session->Run(code, options);
  FlushOutput();
  {
    const std::lock_guard lock(mutex_);
    running_ = Json();
  }
  if (!result) return tl::unexpected<Error>(std::move(result).error());
  return Json{{"result", ToJson(*result)}};
}

Json ServedSession::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

void ServedSession::ForwardOutput(Stream stream, std::string_view text) {
  const auto index = stream == Stream::kStdout ? 0 : 1;
  std::string whole;
  Json id;
  {
    const std::lock_guard lock(mutex_);
    whole = output_[index].Add(budget_.Take(stream, text));
    id = running_;
  }
  if (!whole.empty()) outbox_.Event(id, kStreamNames[index], {{"text", std::move(whole)}});
}

void ServedSession::FlushOutput() {
  for (std::size_t index = 0; index < 2; ++index) {
    std::string rest;
    {
      const std::lock_guard lock(mutex_);
      rest = output_[index].Take();
    }
    if (!rest.empty()) outbox_.Event(running(), kStreamNames[index], {{"text", std::move(rest)}});
  }
}

Result<Value> ServedSession::ForwardCall(const ToolSpec& tool, const Arguments& arguments,
                                         CallContext& context) {
  const std::uint64_t call = calls_.Begin();
  outbox_.Event(running(), "tool_call",
                {{"call", call}, {"name", tool.name}, {"args", ToJson(Value(arguments.all()))}});
  return calls_.Wait(call, context.deadline, context.stop);
}

Result<Json> ServedSession::PutFile(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string path, request.Text("path"));
  ASSIGN_OR_RETURN(const std::string encoded, request.Text("data"));
  const auto data = DecodeBase64(encoded);
  if (!data) return Fail(ErrorCode::kInvalidArgument, "put_file: \"data\" is no valid base64");
  RETURN_IF_ERROR(session->PutFile(path, *data));
  return Json::object();
}

Result<Json> ServedSession::GetFile(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string path, request.Text("path"));
  ASSIGN_OR_RETURN(const auto data, session->GetFile(path));
  return Json{{"data", EncodeBase64(data)}};
}

Result<Json> ServedSession::ListFiles(const Request&) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const auto files, session->ListFiles());
  Json list = Json::array();
  for (const FileInfo& file : files) list.push_back({{"path", file.path}, {"size", file.size_bytes}});
  return Json{{"files", std::move(list)}};
}

Result<Json> ServedSession::RemoveFile(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string path, request.Text("path"));
  RETURN_IF_ERROR(session->RemoveFile(path));
  return Json::object();
}

Result<Json> ServedSession::SetVariable(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string name, request.Text("name"));
  ASSIGN_OR_RETURN(const Json* given, request.Need("value"));
  ASSIGN_OR_RETURN(const Value value, FromJson(*given));
  RETURN_IF_ERROR(session->SetVariable(name, value));
  return Json::object();
}

Result<Json> ServedSession::GetVariable(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string name, request.Text("name"));
  ASSIGN_OR_RETURN(const Value value, session->GetVariable(name));
  return Json{{"value", ToJson(value)}};
}

// ---- an editor's questions ----

Result<Json> ServedSession::Complete(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string code, request.Text("code"));
  ASSIGN_OR_RETURN(const std::optional<std::uint64_t> cursor, request.Count("cursor"));
  ASSIGN_OR_RETURN(const Completions found, session->Complete(code, cursor));
  return Json{{"matches", found.matches}, {"start", found.start}, {"end", found.end}};
}

Result<Json> ServedSession::Inspect(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string code, request.Text("code"));
  ASSIGN_OR_RETURN(const std::optional<std::uint64_t> cursor, request.Count("cursor"));
  ASSIGN_OR_RETURN(const NameInfo info, session->Inspect(code, cursor));
  Json json = {{"found", info.found}, {"name", info.name}};
  if (!info.found) return json;
  json["type"] = info.type;
  json["doc"] = info.doc;
  if (info.signature) json["signature"] = *info.signature;
  if (info.repr) json["repr"] = *info.repr;
  if (!info.file.empty()) json["file"] = info.file;
  return json;
}

Result<Json> ServedSession::IsComplete(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string code, request.Text("code"));
  ASSIGN_OR_RETURN(const CodeState state, session->IsComplete(code));
  return Json{{"status", CompletenessName(state.completeness)}, {"indent", state.indent}};
}

Result<Json> ServedSession::Checkpoint(const Request&) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string name, session->Checkpoint());
  return Json{{"checkpoint", name}};
}

Result<Json> ServedSession::Rollback(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  std::string name;
  if (request.Has("checkpoint")) {
    ASSIGN_OR_RETURN(name, request.Text("checkpoint"));
  }
  RETURN_IF_ERROR(session->Rollback(name));
  return Json::object();
}

Result<Json> ServedSession::Forget(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string name, request.Text("checkpoint"));
  RETURN_IF_ERROR(session->Forget(name));
  return Json::object();
}

Result<Json> ServedSession::Grants(const Request&) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  Json list = Json::array();
  for (const Grant& grant : session->Grants())
    list.push_back({{"grant", grant.covers}, {"by", grant.by}, {"uses", grant.uses}});
  return Json{{"grants", std::move(list)}};
}

Result<Json> ServedSession::RevokeGrant(const Request& request) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  ASSIGN_OR_RETURN(const std::string grant, request.Text("grant"));
  RETURN_IF_ERROR(session->RevokeGrant(grant));
  return Json::object();
}

// ---- branches ----

bool ServedSession::PostBranch(const Request& request, std::vector<std::shared_ptr<ServedSession>> branches) {
  for (const auto& branch : branches) branch->AwaitBirth();
  const Json id = request.id();
  if (queue_.Post([this, id, branches] { outbox_.Answer(id, BranchInto(branches)); })) return true;
  for (const auto& branch : branches) branch->BecomeBranch(Fail(ErrorCode::kResourceExhausted, "not made"));
  return false;
}

// The first task of a branch is to wait until it is there.
void ServedSession::AwaitBirth() {
  const std::lock_guard lock(mutex_);
  awaits_birth_ = true;
  (void)queue_.Post([this] {
    std::unique_lock waiting(mutex_);
    born_.wait(waiting, [this] { return !awaits_birth_; });
  });
}

void ServedSession::BecomeBranch(Result<std::unique_ptr<Session>> session) {
  std::shared_ptr<Session> late;
  {
    const std::lock_guard lock(mutex_);
    awaits_birth_ = false;
    failed_ = !session;
    if (session) session_ = std::move(*session);
    if (ended_) late = session_;
  }
  TakeQuestions();
  born_.notify_all();
  if (late) late->Close();
}

BranchOptions ServedSession::OptionsAsBranchOf(const ServedSession& original) {
  tools_ = original.tools_;
  host_tools_ = original.host_tools_;
  // All of these have been in a registry before.
  const auto tools = MakeTools(tools_).value_or(nullptr);
  for (const auto& tool : host_tools_) (void)tools->Add(tool);
  return {tools, std::make_shared<Sink>(*this), std::make_shared<Asker>(*this)};
}

Result<Json> ServedSession::BranchInto(const std::vector<std::shared_ptr<ServedSession>>& branches) {
  auto made = [&]() -> Result<std::vector<std::unique_ptr<Session>>> {
    ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
    return session->Branch(branches.size(),
                           [&](std::size_t i) { return branches[i]->OptionsAsBranchOf(*this); });
  }();
  Json names = Json::array();
  for (std::size_t i = 0; i < branches.size(); ++i) {
    names.push_back(branches[i]->name());
    if (made) {
      branches[i]->BecomeBranch(std::move((*made)[i]));
    } else {
      branches[i]->BecomeBranch(tl::unexpected<Error>(made.error()));
    }
  }
  if (!made) return tl::unexpected<Error>(std::move(made).error());
  return Json{{"sessions", std::move(names)}};
}

Status ServedSession::Interrupt() {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Use());
  return session->Interrupt();
}

void ServedSession::End() {
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    session = session_;
  }
  if (session) session->Close();
}

}  // namespace gloveport
