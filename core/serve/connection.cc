#include "gloveport/core/serve/connection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr ErrorCode kClientsError = ErrorCode::kIo;  // a tool failed on the client's side

Result<Value> ReadReply(const Request& request) {
  const Json* error = request.Find("error");
  const Json* value = request.Find("value");
  if (error != nullptr && !error->is_null()) {
    return Fail(kClientsError, error->is_string() ? error->get<std::string>() : DumpJson(*error));
  }
  if (value == nullptr) return Fail(ErrorCode::kProtocol, "tool_reply: \"value\" or \"error\" is missing");
  auto converted = FromJson(*value);
  if (!converted) return Fail(ErrorCode::kProtocol, "tool_reply: \"value\": " + converted.error().message);
  return converted;
}

}  // namespace

struct Connection::Operation {
  std::string_view name;
  std::vector<std::string_view> keys;  // besides "id" and "op"
  void (Connection::*handler)(Request) = nullptr;
  ServedSession::Handler in_session = nullptr;  // or: on the session's thread
  Question question = nullptr;                  // or: beside all sessions
};

const Connection::Operation* Connection::FindOperation(std::string_view name) {
  using Served = ServedSession;
  static const Operation kOperations[] = {
      {"open", {"policy", "tools", "options"}, &Connection::Open},
      {"run", {"session", "code", "timeout_s", "inspect"}, nullptr, &Served::Run},
      {"interrupt", {"session"}, &Connection::Interrupt},
      {"close", {"session"}, &Connection::Close},
      {"tool_reply", {"call", "value", "error"}, &Connection::ToolReply},
      {"put_file", {"session", "path", "data"}, nullptr, &Served::PutFile},
      {"get_file", {"session", "path"}, nullptr, &Served::GetFile},
      {"list_files", {"session"}, nullptr, &Served::ListFiles},
      {"remove_file", {"session", "path"}, nullptr, &Served::RemoveFile},
      {"set", {"session", "name", "value"}, nullptr, &Served::SetVariable},
      {"get", {"session", "name"}, nullptr, &Served::GetVariable},
      {"check", {"policy", "code", "tools"}, nullptr, nullptr, &Connection::Check},
      {"parse", {"text"}, nullptr, nullptr, &Connection::Parse},
      {"validate", {"value", "schema"}, nullptr, nullptr, &Connection::Validate},
      {"approve", {"approval", "decision", "reason", "sha256", "by", "code", "args"}, &Connection::Approve},
      {"answer", {"question", "answer"}, &Connection::AnswerQuestion},
      {"grants", {"session"}, nullptr, &Served::Grants},
      {"revoke_grant", {"session", "grant"}, nullptr, &Served::RevokeGrant},
      {"checkpoint", {"session"}, nullptr, &Served::Checkpoint},
      {"rollback", {"session", "checkpoint"}, nullptr, &Served::Rollback},
      {"forget", {"session", "checkpoint"}, nullptr, &Served::Forget},
      {"branch", {"session", "count"}, &Connection::Branch},
      {"complete", {"session", "code", "cursor"}, nullptr, &Served::Complete},
      {"inspect", {"session", "code", "cursor"}, nullptr, &Served::Inspect},
      {"is_complete", {"session", "code"}, nullptr, &Served::IsComplete},
  };
  for (const Operation& operation : kOperations) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

Connection::Connection(Runtime& runtime, Outbox& outbox, std::size_t max_sessions, AddTools add_tools,
                       std::shared_ptr<QuestionDesk> questions)
    : runtime_(runtime),
      outbox_(outbox),
      max_sessions_(max_sessions),
      add_tools_(std::move(add_tools)),
      desk_(questions ? std::move(questions) : std::make_shared<QuestionDesk>()),
      questions_(activity_),
      closing_(activity_) {}

Connection::~Connection() {
  CloseInput();
  for (const auto& [name, session] : sessions_) session->End();
}

void Connection::Handle(std::string_view line) {
  if (Trim(line).empty()) return;
  auto parsed = Request::Parse(line);
  if (!parsed) return outbox_.Failed(Request::FindId(line), parsed.error());
  Request request = std::move(*parsed);
  const Operation* operation = FindOperation(request.op());
  if (operation == nullptr) {
    return outbox_.Failed(request.id(), "unsupported",
                          fmt::format("there is no operation \"{}\"", request.op()),
                          "the operations are listed in PROTOCOL.md");
  }
  if (auto known = request.RefuseUnknownKeys(operation->keys); !known) {
    return outbox_.Failed(request.id(), known.error());
  }
  if (operation->handler != nullptr) return (this->*operation->handler)(std::move(request));
  if (operation->question != nullptr) return Ask(std::move(request), operation->question);
  PostToSession(std::move(request), operation->in_session);
}

void Connection::Unsupported(Request request) {
  outbox_.Failed(request.id(), "unsupported",
                 fmt::format("{} is part of the protocol, but this version cannot do it yet", request.op()),
                 "PROTOCOL.md says what this version can do");
}

// ---- sessions ----

std::shared_ptr<ServedSession> Connection::FindSession(const Request& request) {
  const auto name = request.Text("session");
  if (!name) {
    outbox_.Failed(request.id(), name.error());
    return nullptr;
  }
  const auto found = sessions_.find(*name);
  if (found != sessions_.end()) return found->second;
  outbox_.Failed(request.id(), Error{ErrorCode::kNotFound, fmt::format("there is no session \"{}\"", *name),
                                     "use the name that open returned; a closed session is gone"});
  return nullptr;
}

Status Connection::CheckRoomFor(std::size_t count) {
  if (sessions_.size() + count <= max_sessions_) return {};
  std::erase_if(sessions_, [](const auto& entry) { return entry.second->failed(); });
  if (sessions_.size() + count <= max_sessions_) return {};
  return Fail(ErrorCode::kResourceExhausted, fmt::format("{} sessions are open already", sessions_.size()),
              "close one that is not needed");
}

// The name is given out at once, so that a client may send what comes next without waiting for the reply.
std::shared_ptr<ServedSession> Connection::NewSession() {
  std::string name = fmt::format("s{}", ++opened_);
  auto session = std::make_shared<ServedSession>(name, runtime_, outbox_, calls_, approvals_, *desk_,
                                                 activity_, add_tools_);
  sessions_.emplace(std::move(name), session);
  return session;
}

void Connection::Open(Request request) {
  if (const Status room = CheckRoomFor(1); !room) return outbox_.Failed(request.id(), room.error());
  PostTo(*NewSession(), std::move(request), &ServedSession::Open);
}

void Connection::Branch(Request request) {
  const std::shared_ptr<ServedSession> original = FindSession(request);
  if (!original) return;
  const Json* count = request.Find("count");
  if (count != nullptr && (!count->is_number_unsigned() || *count < 1 || *count > 1000)) {
    return outbox_.Failed(request.id(),
                          Error{ErrorCode::kInvalidArgument, "branch: \"count\" must be from 1 to 1000", ""});
  }
  const std::size_t wanted = count != nullptr ? count->get<std::size_t>() : 1;
  if (const Status room = CheckRoomFor(wanted); !room) return outbox_.Failed(request.id(), room.error());
  std::vector<std::shared_ptr<ServedSession>> branches;
  while (branches.size() < wanted) branches.push_back(NewSession());
  if (!original->PostBranch(request, std::move(branches))) FailForWaiting(request.id(), *original);
}

void Connection::FailForWaiting(const Json& id, const ServedSession& session) {
  outbox_.Failed(id, Error{ErrorCode::kResourceExhausted,
                           fmt::format("too many requests are waiting for session {}", session.name()),
                           "wait for replies before sending more"});
}

void Connection::PostTo(ServedSession& session, Request request, ServedSession::Handler handler) {
  const Json id = request.id();
  if (!session.Post(std::move(request), handler)) FailForWaiting(id, session);
}

void Connection::PostToSession(Request request, ServedSession::Handler handler) {
  const std::shared_ptr<ServedSession> session = FindSession(request);
  if (session) PostTo(*session, std::move(request), handler);
}

void Connection::Interrupt(Request request) {
  const std::shared_ptr<ServedSession> session = FindSession(request);
  if (!session) return;
  const Status interrupted = session->Interrupt();
  if (!interrupted) return outbox_.Failed(request.id(), interrupted.error());
  outbox_.Ok(request.id());
}

// A session may take a moment to end: not on the reader's thread.
void Connection::Close(Request request) {
  std::shared_ptr<ServedSession> session = FindSession(request);
  if (!session) return;
  sessions_.erase(session->name());
  const Json id = request.id();
  const bool posted = closing_.Post([this, id, session]() mutable {
    session->End();
    session.reset();  // answers what was waiting
    outbox_.Ok(id);
  });
  if (!posted) {
    session->End();
    outbox_.Ok(id);
  }
}

void Connection::Approve(Request request) {
  const Json* number = request.Find("approval");
  if (number == nullptr || !number->is_number_unsigned())
    return outbox_.Failed(request.id(),
                          Error{ErrorCode::kInvalidArgument,
                                "approve: \"approval\" must be the number of an approval event", ""});
  auto decision = ReadDecision(request.body());
  if (!decision) return outbox_.Failed(request.id(), decision.error());
  const Status decided = approvals_.Decide(number->get<std::uint64_t>(), std::move(*decision));
  if (!decided) return outbox_.Failed(request.id(), decided.error());
  if (!request.id().is_null()) outbox_.Ok(request.id());
}

void Connection::AnswerQuestion(Request request) {
  const auto status = [&]() -> Status {
    ASSIGN_OR_RETURN(const std::optional<std::uint64_t> question, request.Count("question"));
    ASSIGN_OR_RETURN(const Json* answer, request.Need("answer"));
    if (!question)
      return Fail(ErrorCode::kInvalidArgument, "answer: \"question\" must be the number of a question event");
    if (answer->is_null()) return desk_->Reply(*question, std::nullopt);
    ASSIGN_OR_RETURN(std::string text, request.Text("answer"));
    return desk_->Reply(*question, std::move(text));
  }();
  if (!status) return outbox_.Failed(request.id(), status.error());
  if (!request.id().is_null()) outbox_.Ok(request.id());
}

void Connection::ToolReply(Request request) {
  Status status;
  const Json* call = request.Find("call");
  if (call == nullptr || !call->is_number_unsigned()) {
    status =
        Fail(ErrorCode::kInvalidArgument, "tool_reply: \"call\" must be the number of a tool_call event");
  } else {
    Result<Value> reply = ReadReply(request);
    // What cannot be read is an answer all the same: the cell must not wait for ever. The client learns it
    // too.
    if (!reply && reply.error().code != kClientsError) status = tl::unexpected<Error>(reply.error());
    const Status answered = calls_.Answer(call->get<std::uint64_t>(), std::move(reply));
    if (status) status = answered;
  }
  if (!status) return outbox_.Failed(request.id(), status.error());
  if (!request.id().is_null()) outbox_.Ok(request.id());
}

}  // namespace gloveport
