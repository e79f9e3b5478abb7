#include "gloveport/core/serve/mcp/cell_call.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/serve/mcp/approval_form.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

std::string KeyOf(std::uint64_t approval) { return fmt::format("approval-{}", approval); }

}  // namespace

McpCellCall::McpCellCall(McpRequestTerms terms, std::shared_ptr<McpExchange> exchange, Ways ways,
                         McpImplementation server, std::size_t max_progress)
    : ways_(std::move(ways)),
      server_(std::move(server)),
      max_progress_(max_progress),
      terms_(std::move(terms)),
      exchange_(std::move(exchange)) {}

// ---- its end ----

void McpCellCall::Cancel() {
  std::shared_ptr<McpExchange> exchange;
  std::function<void()> interrupt;
  {
    const std::lock_guard lock(mutex_);
    exchange = std::exchange(exchange_, nullptr);
    interrupt = interrupt_;
    cancelled_ = true;
  }
  stop_.request_stop();
  if (interrupt) interrupt();
  if (exchange) exchange->EndUnanswered();
}

void McpCellCall::OnCancel(std::function<void()> interrupt) {
  const std::lock_guard lock(mutex_);
  interrupt_ = std::move(interrupt);
}

void McpCellCall::Finish(Json result) {
  {
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
    interrupt_ = nullptr;
  }
  AnswerIfFinished();
}

void McpCellCall::AnswerIfFinished() {
  std::shared_ptr<McpExchange> exchange;
  McpReply reply;
  {
    const std::lock_guard lock(mutex_);
    if (!result_ || !exchange_) return;
    exchange = std::exchange(exchange_, nullptr);
    reply = terms_.Result(std::move(*result_), server_);
    result_.reset();
  }
  exchange->Answer(std::move(reply));
}

// ---- progress ----

void McpCellCall::Progress(std::string_view tool) {
  std::shared_ptr<McpExchange> exchange;
  Json params;
  {
    const std::lock_guard lock(mutex_);
    if (terms_.progress_token.is_null() || progress_ == max_progress_ || !exchange_) return;
    exchange = exchange_;
    params = {{"progressToken", terms_.progress_token},
              {"progress", ++progress_},
              {"message", CleanLine(fmt::format("calls {}", tool), 200)}};
    // Under the lock: two tools that start at once must not tell of it in the wrong order.
    (void)exchange->Send(RpcNotification("notifications/progress", std::move(params)));
  }
}

// ---- questions ----

void McpCellCall::Ask(const ApprovalRequest& request, Approver::Answer answer) {
  std::string nobody = WhyNotToApprove(request);
  bool stateless = false;
  {
    const std::lock_guard lock(mutex_);
    stateless = terms_.stateless();
    if (!nobody.empty()) {
      // said below
    } else if (cancelled_) {
      nobody = "the call was cancelled";
    } else if (!terms_.abilities.elicitation) {
      nobody = "the MCP client does not have the capability \"elicitation\"";
    } else {
      questions_.emplace(request.id, Question{request, std::move(answer)});
    }
  }
  if (!nobody.empty()) return answer(NobodyToAsk(nobody));
  if (stateless) {
    ParkIfAsked();
  } else {
    AskByElicitation(request);
  }
}

void McpCellCall::AskByElicitation(const ApprovalRequest& request) {
  std::shared_ptr<McpExchange> exchange;
  {
    const std::lock_guard lock(mutex_);
    exchange = exchange_;
  }
  const auto self = weak_from_this();
  const bool asked = ways_.elicit(exchange.get(), request.id, ApprovalForm(request),
                                  [self, id = request.id](const Json& answer) {
                                    if (const auto call = self.lock()) call->Decide(id, answer);
                                  });
  if (!asked) Decide(request.id, nullptr);
}

// `answer` is null where none can come.
void McpCellCall::Decide(std::uint64_t approval, const Json& answer) {
  Question question;
  std::string client;
  {
    const std::lock_guard lock(mutex_);
    const auto found = questions_.find(approval);
    if (found == questions_.end()) return;
    question = std::move(found->second);
    questions_.erase(found);
    client = terms_.client.name;
  }
  question.answer(answer.is_null() ? NobodyToAsk("the MCP client does not read any more")
                                   : ReadApproval(answer, question.request, client));
}

void McpCellCall::Withdraw(std::uint64_t approval) {
  std::shared_ptr<McpExchange> exchange;
  bool stateless = false;
  {
    const std::lock_guard lock(mutex_);
    if (questions_.erase(approval) == 0) return;
    exchange = exchange_;
    stateless = terms_.stateless();
  }
  if (!stateless) ways_.withdraw(exchange.get(), approval);
}

// ---- the stateless revision ----

void McpCellCall::ParkIfAsked() {
  std::shared_ptr<McpExchange> exchange;
  McpReply reply;
  bool parked = false;
  {
    const std::lock_guard lock(mutex_);
    if (questions_.empty() || !exchange_ || result_) return;
    std::string state = ways_.park(shared_from_this());
    parked = !state.empty();
    if (parked) {
      exchange = std::exchange(exchange_, nullptr);
      Json requests = Json::object();
      for (const auto& [id, question] : questions_)
        requests[KeyOf(id)] = {{"method", "elicitation/create"}, {"params", ApprovalForm(question.request)}};
      reply = terms_.Result({{"inputRequests", std::move(requests)}, {"requestState", std::move(state)}},
                            server_, "input_required");
    }
  }
  if (parked) return exchange->Answer(std::move(reply));
  DenyAll("too many calls wait for the user already");
}

void McpCellCall::DenyAll(std::string_view why) {
  std::map<std::uint64_t, Question> questions;
  {
    const std::lock_guard lock(mutex_);
    questions.swap(questions_);
  }
  for (auto& [id, question] : questions) question.answer(NobodyToAsk(why));
}

void McpCellCall::Resume(McpRequestTerms terms, std::shared_ptr<McpExchange> exchange,
                         const Json& responses) {
  std::vector<std::pair<std::uint64_t, Json>> answers;
  {
    const std::lock_guard lock(mutex_);
    terms_ = std::move(terms);
    exchange_ = std::move(exchange);
    progress_ = 0;  // another request, with a token of its own
    for (const auto& [id, question] : questions_) {
      if (const Json* answer = Member(responses, KeyOf(id))) answers.emplace_back(id, *answer);
    }
  }
  for (const auto& [id, answer] : answers) Decide(id, answer);
  AnswerIfFinished();
  ParkIfAsked();  // what was not answered, or asked meanwhile
}

}  // namespace gloveport
