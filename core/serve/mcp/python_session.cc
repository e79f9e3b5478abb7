#include "gloveport/core/serve/mcp/python_session.h"

#include <chrono>
#include <utility>

#include "gloveport/core/serve/mcp/approval_form.h"

namespace gloveport {

// What the session's own threads find of the call that runs. The session owns its sink and its approver, so
// that these must not own it.
struct McpPythonSession::Link {
  mutable std::mutex mutex;
  std::shared_ptr<McpCellCall> call;
  std::weak_ptr<Session> session;
  std::chrono::steady_clock::time_point used = std::chrono::steady_clock::now();
  bool closed = false;
  bool has_run = false;

  std::shared_ptr<McpCellCall> current() const {
    const std::lock_guard lock(mutex);
    return call;
  }
  void Set(std::shared_ptr<McpCellCall> next) {
    const std::lock_guard lock(mutex);
    if (!next) used = std::chrono::steady_clock::now();
    has_run = true;
    call = std::move(next);
  }
  void Interrupt() const {
    std::shared_ptr<Session> running;
    {
      const std::lock_guard lock(mutex);
      running = session.lock();
    }
    if (running) (void)running->Interrupt();
  }
};

class McpPythonSession::Sink : public EventSink {
 public:
  explicit Sink(std::shared_ptr<Link> link) : link_(std::move(link)) {}

  // A cancellation that came just before the cell could be interrupted is made up for here.
  void OnVerdict(std::string_view, std::uint32_t, const Verdict&) override {
    const auto call = link_->current();
    if (call && call->stop().stop_requested()) link_->Interrupt();
  }
  void OnToolStart(std::string_view, std::uint32_t, std::uint64_t, std::string_view tool,
                   const Value&) override {
    if (const auto call = link_->current()) call->Progress(tool);
  }
  void OnSessionClose(std::string_view) override {
    const std::lock_guard lock(link_->mutex);
    link_->closed = true;
  }

 private:
  const std::shared_ptr<Link> link_;
};

class McpPythonSession::Asker : public Approver {
 public:
  explicit Asker(std::shared_ptr<Link> link) : link_(std::move(link)) {}

  void Ask(const ApprovalRequest& request, Answer answer) override {
    if (const auto call = link_->current()) return call->Ask(request, std::move(answer));
    answer(NobodyToAsk("no call is running"));
  }
  void Withdraw(std::uint64_t id) override {
    if (const auto call = link_->current()) call->Withdraw(id);
  }

 private:
  const std::shared_ptr<Link> link_;
};

McpPythonSession::McpPythonSession(std::string handle, std::chrono::milliseconds idle_timeout,
                                   std::shared_ptr<Link> link, std::shared_ptr<Session> session)
    : handle_(std::move(handle)),
      idle_timeout_(idle_timeout),
      link_(std::move(link)),
      session_(std::move(session)) {}

McpPythonSession::~McpPythonSession() { Close(); }

Result<std::shared_ptr<McpPythonSession>> McpPythonSession::Open(Runtime& runtime,
                                                                 const McpServerOptions& options,
                                                                 std::string handle) {
  const auto link = std::make_shared<Link>();
  SessionOptions session;
  session.policy = options.policy;
  if (options.tools) {
    ASSIGN_OR_RETURN(session.tools, options.tools());
  }
  session.sink = std::make_shared<Sink>(link);
  session.approver = std::make_shared<Asker>(link);
  session.idle_timeout = options.limits.idle_timeout;
  ASSIGN_OR_RETURN(std::shared_ptr<Session> opened, runtime.Open(std::move(session)));
  {
    const std::lock_guard lock(link->mutex);
    link->session = opened;
  }
  return std::shared_ptr<McpPythonSession>(
      new McpPythonSession(std::move(handle), options.limits.idle_timeout, link, std::move(opened)));
}

Result<CellResult> McpPythonSession::Run(std::string_view code, const RunOptions& options,
                                         const std::shared_ptr<McpCellCall>& call, TurnQueue::Place& place) {
  if (!place.Await(call->stop()))
    return Fail(ErrorCode::kDenied, "the call was cancelled before the code ran");
  link_->Set(call);
  call->OnCancel([link = link_] { link->Interrupt(); });
  auto result =
      call->stop().stop_requested()
          ? Result<CellResult>(Fail(ErrorCode::kDenied, "the call was cancelled before the code ran"))
          : session_->Run(code, options);
  call->OnCancel(nullptr);
  link_->Set(nullptr);
  if (!result && result.error().code == ErrorCode::kClosed) {
    const std::lock_guard lock(link_->mutex);
    link_->closed = true;
  }
  return result;
}

bool McpPythonSession::closed() const {
  const std::lock_guard lock(link_->mutex);
  if (link_->closed) return true;
  return turns_.empty() && std::chrono::steady_clock::now() - link_->used > idle_timeout_;
}

std::optional<std::chrono::steady_clock::time_point> McpPythonSession::idle_since() const {
  const std::lock_guard lock(link_->mutex);
  if (!link_->has_run || !turns_.empty()) return std::nullopt;
  return link_->used;
}

void McpPythonSession::Close() {
  {
    const std::lock_guard lock(link_->mutex);
    link_->closed = true;
  }
  session_->Close();
}

}  // namespace gloveport
