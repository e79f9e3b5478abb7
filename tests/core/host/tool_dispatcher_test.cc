#include "gloveport/core/host/tool_dispatcher.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <latch>
#include <stdexcept>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

class FunctionTool : public Tool {
 public:
  using Function = std::function<Result<Value>(CallContext&)>;
  explicit FunctionTool(Function function) : function_(std::move(function)) { spec_.name = "f"; }
  const ToolSpec& spec() const override { return spec_; }
  Result<Value> Call(const Arguments&, CallContext& context) override { return function_(context); }

 private:
  ToolSpec spec_;
  Function function_;
};

std::vector<CompletedCall> Await(ToolDispatcher& dispatcher, std::size_t count) {
  std::vector<CompletedCall> all;
  while (all.size() < count) {
    EXPECT_TRUE(WaitFor(dispatcher.wake_fd(), POLLIN, Deadline::After(std::chrono::seconds(20))));
    for (auto& call : dispatcher.TakeCompleted()) all.push_back(std::move(call));
  }
  return all;
}

TEST(ToolDispatcher, CallsRunAtTheSameTime) {
  auto dispatcher = ToolDispatcher::Create("s1");
  std::latch all_there(8);  // none returns before the last has begun
  auto tool = std::make_shared<FunctionTool>([&](CallContext&) -> Result<Value> {
    all_there.arrive_and_wait();
    return Value(1);
  });
  for (std::uint64_t i = 0; i < 8; ++i) (*dispatcher)->Dispatch({i, 0, tool, {}, Deadline::Never()});
  EXPECT_EQ(Await(**dispatcher, 8).size(), 8u);
}

TEST(ToolDispatcher, AnExceptionIsAnErrorOfTheCall) {
  auto dispatcher = ToolDispatcher::Create("s1");
  (*dispatcher)
      ->Dispatch({1,
                  0,
                  std::make_shared<FunctionTool>(
                      [](CallContext&) -> Result<Value> { throw std::runtime_error("broken"); }),
                  {},
                  Deadline::Never()});
  (*dispatcher)
      ->Dispatch({2,
                  0,
                  std::make_shared<FunctionTool>([](CallContext&) -> Result<Value> { throw 5; }),
                  {},
                  Deadline::Never()});
  for (const CompletedCall& call : Await(**dispatcher, 2)) {
    EXPECT_FALSE(call.record.ok);
    EXPECT_FALSE(call.record.error.empty());
  }
}

TEST(ToolDispatcher, StopReachesACallThatRuns) {
  auto dispatcher = ToolDispatcher::Create("s1");
  std::latch running(1);
  (*dispatcher)
      ->Dispatch({1,
                  0,
                  std::make_shared<FunctionTool>([&](CallContext& context) -> Result<Value> {
                    running.count_down();
                    while (!context.stop.stop_requested()) std::this_thread::yield();
                    return Fail(ErrorCode::kClosed, "stopped");
                  }),
                  {},
                  Deadline::Never()});
  running.wait();
  (*dispatcher)->StopCalls();
  EXPECT_EQ(Await(**dispatcher, 1)[0].record.error, "stopped");
}

}  // namespace
}  // namespace gloveport
