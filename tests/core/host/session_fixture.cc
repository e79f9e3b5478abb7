#include "session_fixture.h"

#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

std::unique_ptr<Runtime>& Shared() {
  static std::unique_ptr<Runtime> runtime;
  return runtime;
}

}  // namespace

void SessionFixture::TearDownTestSuite() { Shared().reset(); }

Runtime& SessionFixture::runtime() {
  if (!Shared()) {
    auto made = Runtime::Create();
    EXPECT_TRUE(made) << made.error().message;
    Shared() = std::move(*made);
  }
  return *Shared();
}

std::unique_ptr<Session> SessionFixture::Open(std::string_view members,
                                              std::shared_ptr<const ToolRegistry> tools,
                                              std::shared_ptr<EventSink> sink) {
  std::string text = R"({"extends":"open")";
  if (!members.empty()) text += "," + std::string(members);
  SessionOptions options;
  auto policy = ParsePolicy(text + "}", "test");
  EXPECT_TRUE(policy) << policy.error().message;
  options.policy = std::move(*policy);
  options.tools = std::move(tools);
  options.sink = std::move(sink);
  auto session = runtime().Open(std::move(options));
  EXPECT_TRUE(session) << session.error().message << " " << session.error().hint;
  return session ? std::move(*session) : nullptr;
}

CellResult SessionFixture::Run(Session& session, std::string_view code) {
  RunOptions options;
  options.inspect = InspectMode::kOff;
  auto result = session.Run(code, options);
  EXPECT_TRUE(result) << result.error().message;
  return result ? std::move(*result) : CellResult();
}

}  // namespace gloveport
