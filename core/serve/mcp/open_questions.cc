#include "gloveport/core/serve/mcp/open_questions.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace gloveport {

void McpOpenQuestions::SetOwnWay(std::shared_ptr<McpExchange> way) {
  const std::lock_guard lock(mutex_);
  own_way_ = std::move(way);
}

void McpOpenQuestions::LoseExchange(const McpExchange* exchange) {
  std::vector<std::pair<std::string, std::string>> lost;  // ids and texts
  {
    const std::lock_guard lock(mutex_);
    if (own_way_.get() == exchange) own_way_.reset();
    for (const auto& [id, asked] : questions_) {
      if (asked.on == exchange) lost.emplace_back(id, asked.text);
    }
  }
  for (const auto& [id, text] : lost) {
    const McpExchange* const sent = Send(nullptr, text);
    Answer answer;
    {
      const std::lock_guard lock(mutex_);
      const auto found = questions_.find(id);
      if (found == questions_.end()) continue;  // answered or withdrawn meanwhile
      found->second.on = sent;
      if (sent == nullptr) answer = std::move(questions_.extract(found).mapped().answer);
    }
    if (answer) answer(nullptr);
  }
}

void McpOpenQuestions::Close() {
  std::map<std::string, Question> dropped;  // their answers go without the lock
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(questions_);
  own_way_.reset();
}

const McpExchange* McpOpenQuestions::Send(McpExchange* own, const std::string& text) {
  if (own != nullptr && own->Send(text)) return own;
  std::shared_ptr<McpExchange> way;
  {
    const std::lock_guard lock(mutex_);
    way = own_way_;
  }
  return way && way->Send(text) ? way.get() : nullptr;
}

bool McpOpenQuestions::Ask(McpExchange* own, std::uint64_t approval, Json params, Answer answer) {
  std::string id;
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    id = fmt::format("gloveport-{}", next_++);
    text = RpcRequest(id, "elicitation/create", std::move(params));
    questions_.emplace(id, Question{approval, std::move(answer), own, text});
  }
  const McpExchange* const sent = Send(own, text);
  const std::lock_guard lock(mutex_);
  if (sent == nullptr) {
    questions_.erase(id);
  } else if (const auto found = questions_.find(id); found != questions_.end()) {
    found->second.on = sent;
  }
  return sent != nullptr;
}

void McpOpenQuestions::Withdraw(McpExchange* own, std::uint64_t approval) {
  std::string id;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(questions_.begin(), questions_.end(),
                                    [&](const auto& entry) { return entry.second.approval == approval; });
    if (found == questions_.end()) return;
    id = found->first;
    questions_.erase(found);
  }
  (void)Send(own, RpcNotification("notifications/cancelled",
                                  {{"requestId", id}, {"reason", "it needs no answer any more"}}));
}

void McpOpenQuestions::Take(const RpcMessage& answer) {
  Question asked;
  {
    const std::lock_guard lock(mutex_);
    if (!answer.id.is_string()) return;
    const auto found = questions_.find(answer.id.get<std::string>());
    if (found == questions_.end()) return;
    asked = std::move(found->second);
    questions_.erase(found);
  }
  asked.answer(answer.kind == RpcMessage::Kind::kResult ? answer.result : Json::object());
}

}  // namespace gloveport
