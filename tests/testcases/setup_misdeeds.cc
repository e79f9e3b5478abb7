// What a session can do wrong before its first cell, and when it is asked a question.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "misdeeds.h"

namespace hostile {
namespace {

Misdeed AtHandOver(std::function<void(Session&)> hand_over) {
  Misdeed misdeed;
  misdeed.hand_over = std::move(hand_over);
  return misdeed;
}

Misdeed AtReady(std::function<void(Session&)> ready) {
  Misdeed misdeed;
  misdeed.ready = std::move(ready);
  return misdeed;
}

Misdeed AtQuestion(std::function<void(Session&, std::uint64_t)> question) {
  Misdeed misdeed;
  misdeed.question = std::move(question);
  return misdeed;
}

int DevNull() { return ::open("/dev/null", O_RDWR); }
int Root() { return ::open("/", O_PATH | O_DIRECTORY); }

}  // namespace

std::map<std::string, Misdeed> SetupMisdeeds() {
  return {
      {"setup-exit", AtHandOver([](Session&) { ::_exit(5); })},
      {"setup-silence", AtHandOver([](Session&) { WaitForever(); })},
      {"setup-stop", AtHandOver([](Session&) { ::raise(SIGSTOP); })},
      {"setup-no-fds", AtHandOver([](Session& s) { s.HandOver("H", {}); })},
      {"setup-one-fd", AtHandOver([](Session& s) { s.HandOver("H", {DevNull()}); })},
      {"setup-three-fds", AtHandOver([](Session& s) {
         s.HandOver("H", {DevNull(), DevNull(), DevNull()});
       })},
      {"setup-many-fds", AtHandOver([](Session& s) {
         std::vector<int> fds;
         for (int i = 0; i < 250; ++i) fds.push_back(DevNull());
         s.HandOver("H", fds);
       })},
      {"setup-other-byte", AtHandOver([](Session& s) {
         s.HandOver("X", {DevNull(), Root()});
       })},
      {"setup-no-with-fds", AtHandOver([](Session& s) {
         s.HandOver("N", {DevNull(), Root()});
       })},
      {"setup-failed", AtHandOver([](Session& s) {
         s.HandOver("N", {});
         s.Send(SetupFailed("no layer \x1b[1mholds"));
       })},
      {"setup-failed-silence", AtHandOver([](Session& s) {
         s.HandOver("N", {});
         WaitForever();
       })},
      {"setup-no-listener", AtHandOver([](Session& s) {
         s.HandOver("H", {DevNull(), Root()});
       })},
      {"setup-no-folder", AtHandOver([](Session& s) {
         s.HandOver("H", {MakeListener(), ::open("/dev/zero", O_RDONLY)});
       })},

      {"ready-exit", AtReady([](Session&) { ::_exit(5); })},
      {"ready-silence", AtReady([](Session&) { WaitForever(); })},
      {"ready-stop", AtReady([](Session&) { ::raise(SIGSTOP); })},
      {"ready-other", AtReady([](Session& s) { s.Send(CellDone(0, "ok", Number(1))); })},
      {"ready-garbage", AtReady([](Session& s) { s.Send("\xff"); })},
      {"ready-bad-report", AtReady([](Session& s) {
         s.Send(Array({Number(32), Bytes("\xff")}));
       })},
      {"ready-bad-head", AtReady([](Session& s) {
         s.rings().to_host.head = 0x7fff'ffff;
         s.WakeHost();
         WaitForever();
       })},
      {"ready-half-frame", AtReady([](Session& s) {
         s.Announce();
         WriteAll(s.socket(), std::string("\x10\x00\x00\x00\x81", 5));
         WaitForever();
       })},
      {"ready-no-wake", AtReady([](Session& s) {
         ::close(s.peer_event());
         ::close(s.own_event());
         WaitForever();
       })},

      {"question-exit", AtQuestion([](Session&, std::uint64_t) { ::_exit(5); })},
      {"question-silence", AtQuestion([](Session&, std::uint64_t) { WaitForever(); })},
      {"question-stop", AtQuestion([](Session&, std::uint64_t) { ::raise(SIGSTOP); })},
      {"question-wrong-id",
       AtQuestion([](Session& s, std::uint64_t id) { s.Send(Reply(id + 1, Number(1))); })},
      {"question-bad-value", AtQuestion([](Session& s, std::uint64_t id) { s.Send(Reply(id, "\xff")); })},
      {"question-events", AtQuestion([](Session& s, std::uint64_t) {
         while (true) s.Send(Event("open", Map({{"path", Text("/x")}})));
       })},
      {"question-displays", AtQuestion([](Session& s, std::uint64_t) {
         while (true) s.Send(Display(0, Map({})));
       })},
      {"question-cell-done",
       AtQuestion([](Session& s, std::uint64_t) { s.Send(CellDone(0, "ok", Number(1))); })},

      // Asked to copy itself, the only question where there are no tools.
      {"copy-lie", AtQuestion([](Session& s, std::uint64_t id) { s.Send(Reply(id, Null())); })},
      {"copy-stray", AtQuestion([](Session& s, std::uint64_t id) {
         for (int i = 0; i < 3; ++i) {
           if (::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0)
             WaitForever();
         }
         s.Send(Reply(id, Null()));
       })},
  };
}

}  // namespace hostile
