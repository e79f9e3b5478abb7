#include "hostile_host.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>

#include "gloveport/core/base/deadline.h"
#include "gloveport/policy/codec.h"
#include "gloveport/tools/tool.h"

namespace gloveport {
namespace {

namespace fs = std::filesystem;

std::size_t Entries(const char* folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

class WaitTool : public Tool {
 public:
  WaitTool() { spec_.name = "wait"; }
  const ToolSpec& spec() const override { return spec_; }
  Result<Value> Call(const Arguments&, CallContext& context) override {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, context.stop, [] { return false; });
    return Value();
  }

 private:
  ToolSpec spec_;
};

}  // namespace

Footprint Footprint::Now() { return {Entries("/proc/self/fd"), Entries("/proc/self/task")}; }

std::size_t HostileProcesses() {
  std::size_t count = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const fs::path program = fs::read_symlink(entry.path() / "exe", error);
    if (!error && program == fs::path(HOSTILE_CHILD)) ++count;
  }
  return count;
}

bool AllHostileProcessesEnd(std::chrono::milliseconds patience) {
  const Deadline deadline = Deadline::After(patience);
  while (HostileProcesses() > 0) {
    if (deadline.passed()) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

void ResetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }

std::size_t PeakMemoryMib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib / 1024;
  }
  return 0;
}

std::chrono::nanoseconds CpuTimeOfThisProcess() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto time = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

void HostileHost::SetUp() {
  std::string name = (fs::temp_directory_path() / "hostile-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  folder_ = name;
  std::thread([] {}).join();  // with the first one a sanitizer starts one of its own
  before_ = Footprint::Now();
}

void HostileHost::TearDown() {
  EXPECT_TRUE(AllHostileProcessesEnd(std::chrono::seconds(5))) << HostileProcesses() << " processes are left";
  // A thread that has been joined may be seen for a moment more.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (Footprint::Now() != before_ && std::chrono::steady_clock::now() < patience) ::poll(nullptr, 0, 10);
  EXPECT_EQ(Footprint::Now(), before_);
  fs::remove_all(folder_);
}

std::unique_ptr<Runtime> HostileHost::Start(const std::string& misdeed, const Patience& patience,
                                            std::size_t min_ready) {
  fs::remove(folder_ / misdeed);
  fs::create_symlink(HOSTILE_CHILD, folder_ / misdeed);
  RuntimeOptions options;
  options.interp_path = folder_ / misdeed;
  options.min_ready = min_ready;
  options.patience = patience;
  auto runtime = Runtime::Create(options);
  EXPECT_TRUE(runtime) << runtime.error().message;
  return std::move(*runtime);
}

SessionOptions HostileHost::Options(const std::string& limits) {
  SessionOptions options;
  auto policy = ParsePolicy(R"({"extends":"open","limits":{)" + limits + "}}", "test");
  EXPECT_TRUE(policy) << policy.error().message;
  options.policy = std::move(*policy);
  auto tools = std::make_shared<ToolRegistry>();
  EXPECT_TRUE(tools->Add(std::make_shared<WaitTool>()));
  options.tools = std::move(tools);
  return options;
}

Result<CellResult> HostileHost::Run(Session& session) {
  RunOptions options;
  options.inspect = InspectMode::kOff;
  return session.Run("pass", options);
}

void HostileHost::ExpectThatOpenFails(const OpenCase& c, const Patience& patience) {
  SCOPED_TRACE(c.misdeed);
  const auto runtime = Start(c.misdeed, c.code == ErrorCode::kDeadlineExceeded ? patience : Patience());
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto start = std::chrono::steady_clock::now();
    const auto session = runtime->Open(Options());
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().code, c.code) << session.error().message;
    EXPECT_THAT(session.error().message, testing::HasSubstr(c.message));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
  }
}

}  // namespace gloveport
