// A SyntaxChecker for tests that need no runtime: syntax_server.py over a pair of pipes.
#ifndef GLOVEPORT_TESTS_CORE_AGENT_SYNTAX_SERVER_H_
#define GLOVEPORT_TESTS_CORE_AGENT_SYNTAX_SERVER_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "gloveport/core/agent/action_parser.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

class SyntaxServer {
 public:
  SyntaxServer();
  ~SyntaxServer();
  SyntaxServer(const SyntaxServer&) = delete;
  SyntaxServer& operator=(const SyntaxServer&) = delete;

  Result<SyntaxInfo> Check(std::string_view code);
  SyntaxChecker checker() {
    return [this](std::string_view code) { return Check(code); };
  }
  int questions() const { return questions_; }  // asked so far

 private:
  Result<std::string> ReadLine();

  pid_t pid_ = -1;
  UniqueFd to_;
  UniqueFd from_;
  std::string pending_;
  int questions_ = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_AGENT_SYNTAX_SERVER_H_
