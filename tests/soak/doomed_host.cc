// A host that is there to be killed. Usage: doomed_host MODE [SESSIONS]
//
// Prints "ready" once its sessions run busy loops. Modes: "busy"; "opening": opens and closes sessions for
// ever; "degraded": user namespaces are taken away first; "thread": the thread that created the runtime and
// opened the sessions ends, then each session still answers, and it prints "alive".
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "gloveport/core/host/runtime.h"
#include "gloveport/policy/codec.h"

namespace {

using namespace gloveport;

SessionOptions Options(bool degraded) {
  SessionOptions options;
  auto policy = ParsePolicy(degraded ? R"({"imports":{"allow":["*"]},"inspection":"optional",
                                          "layers":{"require":["seccomp","landlock"]}})"
                                     : R"({"imports":{"allow":["*"]},"inspection":"optional"})",
                            "doomed");
  if (!policy) std::exit(3);
  options.policy = std::move(*policy);
  return options;
}

// unshare fails for this process and all its children.
void TakeNamespacesAway() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{4, filter};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    std::exit(4);
}

void Say(const char* word) {
  std::puts(word);
  std::fflush(stdout);
}

std::unique_ptr<Session> Open(Runtime& runtime, bool degraded) {
  auto session = runtime.Open(Options(degraded));
  if (!session) {
    std::fprintf(stderr, "%s\n", session.error().message.c_str());
    std::exit(5);
  }
  return std::move(*session);
}

bool Answers(Session& session) {
  RunOptions options;
  options.inspect = InspectMode::kOff;
  const auto result = session.Run("1 + 1", options);
  return result && result->value == Value(2);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "busy";
  const int wanted = count > 2 ? std::atoi(arguments[2]) : 3;
  if (mode == "degraded") TakeNamespacesAway();
  std::unique_ptr<Runtime> runtime;
  std::vector<std::unique_ptr<Session>> sessions;
  std::thread opener([&] {
    auto made = Runtime::Create();
    if (!made) std::exit(6);
    runtime = std::move(*made);
    for (int i = 0; i < wanted; ++i) sessions.push_back(Open(*runtime, mode == "degraded"));
  });
  opener.join();
  if (mode == "thread") {
    for (const auto& session : sessions) {
      if (!Answers(*session)) return 7;
    }
    Say("alive");
  }
  if (mode == "opening") {
    Say("ready");
    while (true) Open(*runtime, false);
  }
  std::vector<std::thread> runners;
  for (const auto& session : sessions) {
    if (!Answers(*session)) return 8;
    runners.emplace_back([&session] {
      RunOptions options;
      options.inspect = InspectMode::kOff;
      (void)session->Run("while True: pass", options);
    });
  }
  Say("ready");
  for (std::thread& runner : runners) runner.join();
  return 0;
}
