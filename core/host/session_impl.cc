#include "gloveport/core/host/session_impl.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/host/event_tee.h"
#include "gloveport/core/host/layers.h"
#include "gloveport/core/host/session_facts.h"
#include "gloveport/core/host/sha256.h"
#include "gloveport/core/host/work_folder.h"
#include "gloveport/core/wire/cbor.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxFileBytes = 64u << 20;

Value DescribeParameter(const Parameter& parameter) {
  Value described = Value::Object({{"name", parameter.name},
                                   {"annotation", parameter.annotation},
                                   {"description", parameter.description},
                                   {"schema", parameter.schema},
                                   {"kind", ParameterKindName(parameter.kind)},
                                   {"has_default", parameter.default_value.has_value()}});
  if (parameter.default_value) described.Set("default", *parameter.default_value);
  return described;
}

Value DescribeTool(const ToolSpec& spec) {
  Value::List parameters;
  for (const Parameter& parameter : spec.parameters) parameters.push_back(DescribeParameter(parameter));
  return Value::Object({{"name", spec.name},
                        {"description", spec.description},
                        {"returns", spec.returns},
                        {"returns_description", spec.returns_description},
                        {"is_async", spec.is_async},
                        {"is_stream", spec.is_stream},
                        {"parameters", std::move(parameters)}});
}

// One number for all of a seed, other than what the seed itself begins with.
std::uint32_t HashSeedOf(std::uint64_t seed) {
  return static_cast<std::uint32_t>((seed * 0x9E3779B97F4A7C15u) >> 32);
}

}  // namespace

SessionImpl::SessionImpl(SessionPlace place, SessionOptions options, const SessionSurroundings& surroundings)
    : place_(std::move(place)), options_(std::move(options)), surroundings_(surroundings) {
  async_runs_ = AsyncRuns::Create(
      surroundings.threads,
      [this](std::string_view code, const RunOptions& run_options) { return Run(code, run_options); });
}

Result<std::unique_ptr<SessionImpl>> SessionImpl::Make(SessionOptions options,
                                                       const SessionSurroundings& surroundings) {
  ASSIGN_OR_RETURN(SessionPlace place, surroundings.admit());
  std::unique_ptr<SessionImpl> session(new SessionImpl(std::move(place), std::move(options), surroundings));
  ASSIGN_OR_RETURN(session->gate_, ToolGate::Compile(session->options_.policy.tools));
  ASSIGN_OR_RETURN(session->dispatcher_, ToolDispatcher::Create(session->id()));
  session->sink_ = Tee(surroundings.record, session->options_.sink);
  session->desk_ = std::make_unique<ApprovalDesk>(
      session->id(), session->options_.approver, session->options_.policy.limits.approval, session->sink_,
      [dispatcher = session->dispatcher_.get()] { dispatcher->Wake(); });
  return session;
}

Result<std::unique_ptr<Session>> SessionImpl::Open(SessionOptions options,
                                                   const SessionSurroundings& surroundings) {
  ASSIGN_OR_RETURN(auto session, Make(std::move(options), surroundings));
  {
    const InUse use(*session);
    RETURN_IF_ERROR(session->StartProcess());
  }
  RETURN_IF_ERROR(session->StartTimer());
  return session;
}

SessionImpl::~SessionImpl() { Close(); }

void SessionImpl::Close() {
  (void)CloseFor(ClosedBy::kCaller);
  if (timer_entry_ != 0) surroundings_.timer.Remove(timer_entry_);
  {
    const std::lock_guard lock(run_mutex_);
    LetGo();
  }
  async_runs_->Close(ClosedError());
}

// Nothing runs any more once the running cell has ended, within its grace time. False where it was closed
// already.
bool SessionImpl::CloseFor(ClosedBy reason) {
  ClosedBy nobody = ClosedBy::kNobody;
  const bool first = closed_by_.compare_exchange_strong(nobody, reason);
  interrupt_ = true;
  if (dispatcher_) dispatcher_->Wake();
  return first;
}

// With run_mutex_ held.
void SessionImpl::LetGo() {
  if (surroundings_.record && told_ && !released_) TellOfFiles();
  while (!checkpoints_.empty()) DropCheckpoint(checkpoints_.size() - 1);
  DropProcess();
  private_template_.reset();
  scratch_.reset();
  if (std::exchange(released_, true)) return;
  if (sink_ && told_) sink_->OnSessionClose(id());
  place_.release();
}

std::optional<std::uint64_t> SessionImpl::Seed() const {
  return options_.seed ? options_.seed : options_.policy.seed;
}

// Sessions without a folder of the host's come from the pool. A folder belongs to a template of its own; the
// degraded mode always has one, for there its name is part of the environment.
Result<std::unique_ptr<SessionProcess>> SessionImpl::FindProcess() {
  TemplateOptions options;
  options.policy = options_.policy;
  if (const auto seed = Seed()) options.hash_seed = HashSeedOf(*seed);
  if (options_.workdir)
    options.workdir = std::filesystem::absolute(*options_.workdir).lexically_normal().string();
  if (private_template_ && private_template_->alive()) return StartPrivate(private_template_->options());
  auto found = options.workdir.empty() ? surroundings_.pool.Take(options, Seed()) : StartPrivate(options);
  if (found || found.error().code != ErrorCode::kConfinementUnavailable ||
      options_.policy.Requires("own_root"))
    return found;

  options.own_root = false;
  if (options.workdir.empty()) {
    ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::Make());
    scratch_ = std::make_shared<ScratchFolder>(std::move(folder));
    options.workdir = scratch_->path();
    options.scratch = true;
  }
  return StartPrivate(options);
}

Result<std::unique_ptr<SessionProcess>> SessionImpl::StartPrivate(const TemplateOptions& options) {
  if (!private_template_ || !private_template_->alive()) {
    ASSIGN_OR_RETURN(private_template_, surroundings_.pool.templates().StartPrivate(options));
  }
  return SessionProcess::Start(private_template_, Seed(),
                               Deadline::After(surroundings_.pool.templates().patience().session_start));
}

Status SessionImpl::StartProcess() {
  DropProcess();
  ASSIGN_OR_RETURN(auto process, FindProcess());
  layers_ = LayersOf(process->parent(), *process);
  RETURN_IF_ERROR(RequireLayers(options_.policy, layers_));
  if (!family_)
    family_ = std::make_shared<SessionFamily>(options_.policy.limits, process->parent().anonymous_bytes());
  SetProcess(std::move(process));
  if (private_template_ && !disk_) {
    UniqueFd folder(::fcntl(process_->work_folder(), F_DUPFD_CLOEXEC, 0));
    if (!folder) return FailErrno("fcntl(F_DUPFD_CLOEXEC)", errno);
    disk_ = std::make_shared<DiskWatch>(std::move(folder));
  }
  RETURN_IF_ERROR(DefineTools());
  return TellOfProcess();
}

// A session is told of once; a process that takes the place of one that was lost is a change of its state.
Status SessionImpl::TellOfProcess() {
  if (!sink_) return {};
  if (told_) return sink_->OnStateChange(id(), {"fresh", ""}), Status();
  SessionFacts facts = Facts();
  if (surroundings_.record) {
    ASSIGN_OR_RETURN(const wire::Reply reply, AskSession("describe_runtime", Value(Value::Map())));
    ASSIGN_OR_RETURN(const Value described, DecodeValue(reply.value));
    AddRuntimeFiles(facts, surroundings_.pool.templates().program(), described);
  }
  sink_->OnSessionOpen(facts);
  told_ = true;
  return sink_->Commit();
}

void SessionImpl::TellOfFiles() {
  if (!process_) return;
  WorkFolder folder(process_->work_folder());
  const auto files = folder.List();
  if (!files) return;
  std::vector<FileDigest> digests;
  for (const FileInfo& file : *files) {
    const auto content = folder.Get(file.path, kMaxFileBytes);
    digests.push_back({file.path, file.size_bytes, content ? Sha256Hex(AsText(*content)) : ""});
  }
  sink_->OnFilesAtEnd(id(), digests);
}

SessionFacts SessionImpl::Facts() const {
  SessionFacts facts;
  facts.session = id();
  facts.policy = options_.policy;
  facts.layers = layers_;
  for (const ToolSpec* spec : VisibleTools()) facts.tools.push_back(*spec);
  facts.seed = Seed();
  if (options_.workdir) facts.workdir = options_.workdir->string();
  return facts;
}

std::vector<const ToolSpec*> SessionImpl::VisibleTools() const {
  std::vector<const ToolSpec*> specs;
  if (!options_.tools) return specs;
  for (const auto& tool : options_.tools->tools()) {
    if (!gate_.IsHidden(tool->spec().name)) specs.push_back(&tool->spec());
  }
  return specs;
}

Status SessionImpl::DefineTools() {
  Value::List tools;
  for (const ToolSpec* spec : VisibleTools()) tools.push_back(DescribeTool(*spec));
  if (tools.empty()) return {};
  ASSIGN_OR_RETURN(const wire::Reply reply,
                   AskSession("define_tools", Value::Object({{"tools", std::move(tools)}})));
  if (!reply.ok)
    return Fail(ErrorCode::kInvalidArgument, fmt::format("cannot define the tools: {}", reply.error_message));
  return {};
}

Status SessionImpl::Prepare() {
  if (closed()) return tl::unexpected<Error>(ClosedError());
  if (!process_) RETURN_IF_ERROR(StartProcess());
  return {};
}

Status SessionImpl::PutFile(std::string_view path, std::span<const std::byte> data) {
  const InUse use(*this);
  RETURN_IF_ERROR(Prepare());
  RETURN_IF_ERROR(WorkFolder(process_->work_folder()).Put(path, data));
  if (sink_) sink_->OnFilePut(id(), path, data);
  return {};
}

Result<std::vector<std::byte>> SessionImpl::GetFile(std::string_view path) {
  const InUse use(*this);
  RETURN_IF_ERROR(Prepare());
  return WorkFolder(process_->work_folder()).Get(path, kMaxFileBytes);
}

Result<std::vector<FileInfo>> SessionImpl::ListFiles() {
  const InUse use(*this);
  RETURN_IF_ERROR(Prepare());
  return WorkFolder(process_->work_folder()).List();
}

Status SessionImpl::RemoveFile(std::string_view path) {
  const InUse use(*this);
  RETURN_IF_ERROR(Prepare());
  RETURN_IF_ERROR(WorkFolder(process_->work_folder()).Remove(path));
  if (sink_) sink_->OnFileRemoved(id(), path);
  return {};
}

}  // namespace gloveport
