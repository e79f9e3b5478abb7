// A Runtime without processes, for tests of what is above it. Its "cells" are one word of command and a rest:
//   print TEXT     writes TEXT to stdout          eprint TEXT   writes TEXT to stderr
//   call NAME      calls the tool NAME with its defaults and gives its value, or error
//   block          until Interrupt (outcome error, KeyboardInterrupt) or Close (outcome killed)
//   anything else  gives the text as value
#ifndef GLOVEPORT_TESTS_CORE_SERVE_FAKE_RUNTIME_H_
#define GLOVEPORT_TESTS_CORE_SERVE_FAKE_RUNTIME_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "gloveport/core/host/runtime.h"

namespace gloveport {

class FakeRuntime : public Runtime {
 public:
  Result<std::unique_ptr<Session>> Open(SessionOptions options) override;
  Result<Verdict> Check(const Policy& policy, std::string_view code,
                        const std::vector<std::string>& tools) override;
  Result<Explanation> Explain(const Policy& policy, std::string_view code,
                              const std::vector<std::string>& tools) override;
  Result<SyntaxInfo> Syntax(std::string_view code) override;
  Result<std::vector<SchemaError>> Validate(const Value& value, const Value& schema) override;
  Result<std::vector<LayerStatus>> ProbeLayers() override;

  bool fail_to_open = false;
  std::atomic<int> open_sessions{0};
};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_SERVE_FAKE_RUNTIME_H_
