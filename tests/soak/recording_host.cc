// A host that writes an audit log under load until it is killed. Usage: recording_host LOG [KEY]
//
// Prints "ready" when the first cell has ended.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "gloveport/core/host/runtime.h"
#include "gloveport/core/record/audit_log.h"
#include "gloveport/policy/codec.h"

namespace {

using namespace gloveport;

// Short cells and long ones, with output, a large value, tools, files, refusals and what it cannot catch.
constexpr const char* kCells[] = {
    "sum(lookup(str(n)) for n in range(20))",
    "print('x' * 5000)",
    "'v' * 300_000",
    "import subprocess",
    "open('f.txt', 'w').write('text')",
    "try: open('/etc/shadow')\nexcept OSError: pass",
    "raise ValueError('again')",
};

void RunForEver(Session& session) {
  for (std::size_t i = 0;; ++i) {
    (void)session.PutFile("in.bin", std::vector<std::byte>(20'000, std::byte(i)));
    if (!session.Run(kCells[i % std::size(kCells)])) std::exit(6);
    if (i == 0) {
      std::puts("ready");
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  AuditLogOptions options;
  if (count > 2) {
    auto key = SigningKey::Load(arguments[2]);
    if (!key) return 3;
    options.key = std::move(*key);
  }
  auto log = AuditLog::Create(arguments[1], std::move(options));
  auto tools = std::make_shared<ToolRegistry>();
  const auto added = tools->Add("lookup", "Looks up.",
                                [](const std::string& key) { return static_cast<std::int64_t>(key.size()); },
                                {Arg("key", "which")});
  auto policy = ParsePolicy(R"({"extends":"default"})", "recording");
  if (!log || !added || !policy) return 4;
  auto runtime = Runtime::Create({.min_ready = 0, .record = *log});
  if (!runtime) return 5;
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    auto session = (*runtime)->Open({.policy = *policy, .tools = tools});
    if (!session) return 5;
    sessions.push_back(std::move(*session));
    threads.emplace_back([&session = *sessions.back()] { RunForEver(session); });
  }
  for (std::thread& thread : threads) thread.join();
}
