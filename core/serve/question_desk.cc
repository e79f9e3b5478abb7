#include "gloveport/core/serve/question_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

Status CheckAnswer(const ClientQuestion& question, const std::string& answer) {
  if (answer.size() > QuestionDesk::kMaxAnswerBytes)
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("answer: the text has {} bytes, more than {}", answer.size(),
                            QuestionDesk::kMaxAnswerBytes),
                "the question still waits: answer it in fewer words");
  const auto& choices = question.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), answer) != choices.end()) return {};
  return Fail(ErrorCode::kInvalidArgument, "answer: the text is none of the choices",
              "the question still waits: answer with one of its choices, or with null");
}

}  // namespace

void QuestionDesk::Attach(const std::string& session, Listener listener) {
  const std::lock_guard lock(mutex_);
  listeners_.insert_or_assign(session, std::move(listener));
}

void QuestionDesk::Detach(const std::string& session) {
  std::vector<Answer> left;
  {
    const std::lock_guard lock(mutex_);
    listeners_.erase(session);
    std::erase_if(waiting_, [&](auto& entry) {
      const bool is_its = entry.second.question.session == session;
      if (is_its) left.push_back(std::move(entry.second.answer));
      return is_its;
    });
  }
  for (const Answer& answer : left) answer(std::nullopt);
}

// Announced with the lock held: so that its answer finds it waiting, and Detach need not wait for it.
void QuestionDesk::Ask(const ClientQuestion& question, Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    const auto listener = listeners_.find(question.session);
    if (!closed_ && listener != listeners_.end()) {
      waiting_.emplace(question.id, Waiting{question, std::move(answer)});
      return listener->second.on_question(question);
    }
  }
  answer(std::nullopt);
}

void QuestionDesk::Withdraw(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  const auto listener = listeners_.find(found->second.question.session);
  waiting_.erase(found);
  if (listener != listeners_.end()) listener->second.on_withdrawn(id);
}

Status QuestionDesk::Reply(std::uint64_t id, std::optional<std::string> answer) {
  Answer give;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(id);
    if (found == waiting_.end())
      return Fail(ErrorCode::kNotFound, fmt::format("no question waits under the number {}", id),
                  "it may have been too late; answer with the number of the question event");
    if (answer) RETURN_IF_ERROR(CheckAnswer(found->second.question, *answer));
    give = std::move(found->second.answer);
    waiting_.erase(found);
  }
  give(std::move(answer));
  return {};
}

void QuestionDesk::Close() {
  std::map<std::uint64_t, Waiting> left;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    left.swap(waiting_);
  }
  for (const auto& [id, waiting] : left) waiting.answer(std::nullopt);
}

Json QuestionEvent(const ClientQuestion& question, std::string_view session) {
  Json json = {{"question", question.id}, {"session", session}, {"text", ToValidUtf8(question.text)}};
  if (!question.choices.empty()) {
    json["choices"] = Json::array();
    for (const std::string& choice : question.choices) json["choices"].push_back(ToValidUtf8(choice));
  }
  return json;
}

}  // namespace gloveport
