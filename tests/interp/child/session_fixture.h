// A session with every import allowed, and shorthands for the tests that look at single cells.
#ifndef GLOVEPORT_TESTS_INTERP_CHILD_SESSION_FIXTURE_H_
#define GLOVEPORT_TESTS_INTERP_CHILD_SESSION_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tests/interp/child/session_process.h"

namespace gloveport::testing {

class SessionFixture : public ::testing::Test {
 protected:
  SessionFixture() {
    config_.policy.imports.allow = {"*"};
    config_.policy.builtins.allow = {"eval", "exec", "compile"};
  }

  SessionProcess& session() {
    if (!session_) session_ = std::make_unique<SessionProcess>(config_, folder_.path(), seed_);
    return *session_;
  }
  CellRun Run(const std::string& code, std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    return session().Run(code, timeout, tools_);
  }

  static Value Decoded(const wire::Encoded& encoded) {
    auto value = DecodeValue(encoded);
    return value ? std::move(*value) : Value("UNDECODABLE: " + value.error().message);
  }
  static std::string Status(const CellRun& run) { return run.done ? run.done->status : "no CellDone"; }
  static Value ErrorOf(const CellRun& run) { return run.done ? Decoded(run.done->error) : Value(); }
  static std::string ErrorType(const CellRun& run) { return ErrorOf(run).TextOr("type", ""); }
  static std::string Message(const CellRun& run) { return ErrorOf(run).TextOr("message", ""); }
  static std::string Traceback(const CellRun& run) { return ErrorOf(run).TextOr("traceback", ""); }
  // The value as JSON; the error's text where there is none.
  static std::string Json(const CellRun& run) {
    if (!run.done) return "no CellDone";
    return run.done->status == "ok" ? DumpJson(Decoded(run.done->value)) : Traceback(run);
  }
  std::string Eval(const std::string& code) { return Json(Run(code)); }
  // The details of those events, as JSON.
  static std::vector<std::string> EventsOf(const CellRun& run, const std::string& kind) {
    std::vector<std::string> found;
    for (const wire::Event& event : run.events) {
      if (event.kind == kind) found.push_back(DumpJson(Decoded(event.details)));
    }
    return found;
  }

  SessionConfig config_;
  std::optional<std::uint64_t> seed_;
  TemporaryFolder folder_;
  SessionProcess::ToolHandler tools_;
  std::unique_ptr<SessionProcess> session_;
};

}  // namespace gloveport::testing

#endif  // GLOVEPORT_TESTS_INTERP_CHILD_SESSION_FIXTURE_H_
