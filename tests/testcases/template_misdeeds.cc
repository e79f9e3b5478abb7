// What a template can do wrong, from its start to a fork.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "misdeeds.h"

namespace hostile {
namespace {

void IgnoreSignals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_IGN);
}

Misdeed AtStart(std::function<void()> start) {
  Misdeed misdeed;
  misdeed.start = std::move(start);
  return misdeed;
}

Misdeed AtFork(std::function<void(const std::vector<int>&)> fork) {
  Misdeed misdeed;
  misdeed.fork = std::move(fork);
  return misdeed;
}

void AnswerWith(const std::vector<int>& fds) { SendWithFds(kControl, TemplateAnswer(true, 7), fds); }

}  // namespace

std::map<std::string, Misdeed> TemplateMisdeeds() {
  return {
      {"start-exit", AtStart([] { ::_exit(5); })},
      {"start-silence", AtStart(WaitForever)},
      {"start-stop", AtStart([] { ::raise(SIGSTOP); })},
      {"start-ignore", AtStart([] {
         IgnoreSignals();
         WaitForever();
       })},
      {"start-chatter", AtStart([] {
         while (WriteAll(2, "\x1b]0;owned\a much to say ")) {
         }
       })},
      {"start-last-words", AtStart([] {
         WriteAll(2, "\x1b[31mcannot go on\n");
         ::_exit(5);
       })},
      {"start-garbage", AtStart([] { SendWithFds(kControl, "\xff\xff\xff", {PidfdOf(::getpid())}); })},
      {"start-empty", AtStart([] { SendWithFds(kControl, "", {PidfdOf(::getpid())}); })},
      {"start-large", AtStart([] {
         SendWithFds(kControl, std::string(200 * 1024, '\xa1'), {PidfdOf(::getpid())});
         WaitForever();
       })},
      {"start-no-pidfd", AtStart([] { AnswerWith({}); })},
      {"start-two-pidfds", AtStart([] {
         AnswerWith({PidfdOf(::getpid()), PidfdOf(::getpid())});
       })},
      {"start-many-fds", AtStart([] { AnswerWith(std::vector<int>(250, PidfdOf(::getpid()))); })},
      {"start-pidfd-host", AtStart([] { AnswerWith({PidfdOf(::getppid())}); })},
      {"start-pidfd-init", AtStart([] { AnswerWith({PidfdOf(1)}); })},
      {"start-no-pidfd-fd", AtStart([] { AnswerWith({::open("/dev/zero", O_RDONLY)}); })},
      {"start-refusal", AtStart([] { SendWithFds(kControl, TemplateAnswer(false, 0), {}); })},

      {"fork-exit", AtFork([](auto&) { ::_exit(5); })},
      {"fork-silence", AtFork([](auto&) { WaitForever(); })},
      {"fork-garbage", AtFork([](auto&) { SendWithFds(kControl, Number(0), {}); })},
      {"fork-no-pidfd", AtFork([](auto&) { AnswerWith({}); })},
      {"fork-many-fds", AtFork([](auto&) { AnswerWith(std::vector<int>(250, PidfdOf(::getpid()))); })},
      {"fork-pidfd-host", AtFork([](auto&) { AnswerWith({PidfdOf(::getppid())}); })},
      {"fork-pidfd-init", AtFork([](auto&) { AnswerWith({PidfdOf(1)}); })},
      {"fork-pidfd-self", AtFork([](auto&) { AnswerWith({PidfdOf(::getpid())}); })},
      {"fork-no-pidfd-fd", AtFork([](auto&) { AnswerWith({::open("/dev/zero", O_RDONLY)}); })},
      {"fork-refusal", AtFork([](auto&) { SendWithFds(kControl, TemplateAnswer(false, 0), {}); })},
  };
}

}  // namespace hostile
