// One runtime for all tests of the program, and sessions with the policies they need.
#ifndef GLOVEPORT_TESTS_CORE_HOST_SESSION_FIXTURE_H_
#define GLOVEPORT_TESTS_CORE_HOST_SESSION_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "gloveport/core/host/runtime.h"

namespace gloveport {

class SessionFixture : public testing::Test {
 protected:
  static void TearDownTestSuite();
  static Runtime& runtime();

  // A session whose policy extends `open` with these members, for example R"("limits":{"wall_s":1})".
  std::unique_ptr<Session> Open(std::string_view members = "",
                                std::shared_ptr<const ToolRegistry> tools = nullptr,
                                std::shared_ptr<EventSink> sink = nullptr);
  // Runs without inspection; the test fails if nothing could be run.
  static CellResult Run(Session& session, std::string_view code);
};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_HOST_SESSION_FIXTURE_H_
