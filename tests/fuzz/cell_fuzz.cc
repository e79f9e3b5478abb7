// The protocol as a whole: a session that says anything in any order while a cell runs, to the host that
// watches it. The input is the list of steps of tests/testcases/scripted_misdeed.cc. Each input has a session
// of its own, forked from a template without Python. Whatever comes: an outcome in time, and a host that goes
// on.
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "gloveport/core/host/runtime.h"
#include "gloveport/policy/codec.h"

#include "fuzz_input.h"

namespace {

using namespace gloveport;

constexpr std::size_t kMaxScript = 12'000;  // so that its text goes through the ring
constexpr std::chrono::milliseconds kWall{300};

class Host {
 public:
  Host() {
    char name[] = "/tmp/fuzz-cell-XXXXXX";
    PROMISE(::mkdtemp(name) != nullptr);
    folder_ = name;
    std::filesystem::create_symlink(HOSTILE_CHILD, folder_ / "cell-scripted");
    auto runtime = Runtime::Create({.interp_path = folder_ / "cell-scripted", .min_ready = 0});
    PROMISE(runtime);
    runtime_ = std::move(*runtime);
    auto tools = std::make_shared<ToolRegistry>();
    PROMISE(tools->Add("wait", "", [](Value) { return 1; }, {Arg("x", "")}));
    options_.tools = tools;
    options_.policy = *ParsePolicy(R"({"extends":"open","limits":{"wall_s":0.3,"result_mib":8}})", "fuzz");
  }
  ~Host() { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Session> Open() {
    auto session = runtime_->Open(options_);
    PROMISE(session);
    return std::move(*session);
  }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<Runtime> runtime_;
  SessionOptions options_;
};

std::string Hex(std::string_view bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    text.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Host host;
  const auto session = host.Open();
  RunOptions options;
  options.inspect = InspectMode::kOff;
  const auto start = std::chrono::steady_clock::now();
  const auto result = session->Run("fuzz:" + Hex(TextOf(data, std::min(size, kMaxScript))), options);
  PROMISE(result);
  PROMISE(result->outcome != Outcome::kDenied && result->state != SessionState::kRestored);
  PROMISE(result->outcome == Outcome::kOk || result->error);
  // Wall time, the grace after it, and a busy machine.
  PROMISE(std::chrono::steady_clock::now() - start < kWall + std::chrono::seconds(10));
  return 0;
}
