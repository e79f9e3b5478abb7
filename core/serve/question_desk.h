// QuestionDesk: what tools of the host ask the person behind a connection, and the answers. The tools know a
// session by the host's name of it; each served session says where its questions go. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_QUESTION_DESK_H_
#define GLOVEPORT_CORE_SERVE_QUESTION_DESK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

struct ClientQuestion {
  std::uint64_t id = 0;              // unique in the process
  std::string session;               // the host's id
  std::string text;                  // the code's words: hostile
  std::vector<std::string> choices;  // the answer must be one of them; empty: any text
};

class QuestionDesk {
 public:
  static constexpr std::size_t kMaxAnswerBytes = 64u << 10;
  // Nothing: the person did not want to answer, or nobody is there. Called once, on any thread.
  using Answer = std::function<void(std::optional<std::string>)>;
  // Where the questions of a session are announced. Must not block, nor call the desk.
  struct Listener {
    std::function<void(const ClientQuestion&)> on_question;
    std::function<void(std::uint64_t id)> on_withdrawn;
  };

  void Attach(const std::string& session, Listener listener);
  // When it has returned, the listener is not called any more; what the session asks and has asked is not
  // answered.
  void Detach(const std::string& session);

  void Ask(const ClientQuestion& question, Answer answer);
  void Withdraw(std::uint64_t id);  // no answer is needed any more

  // kNotFound for a question that does not wait. kInvalidArgument for an answer that is too long or none of
  // the choices: then it waits on.
  Status Reply(std::uint64_t id, std::optional<std::string> answer);
  // The client has gone: nothing is answered any more.
  void Close();

 private:
  struct Waiting {
    ClientQuestion question;
    Answer answer;
  };

  std::mutex mutex_;
  std::map<std::string, Listener> listeners_;
  std::map<std::uint64_t, Waiting> waiting_;
  bool closed_ = false;
};

// The members of a question event: {"question","session","text","choices"?}.
Json QuestionEvent(const ClientQuestion& question, std::string_view session);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_QUESTION_DESK_H_
