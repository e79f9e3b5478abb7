// From nothing, or from the pool, to the first result of a session.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

#include "gloveport/tests/bench/figures.h"
#include "gloveport/tests/bench/python_server.h"
#include "gloveport/tests/bench/round_trip.h"
#include "gloveport/tests/bench/sessions.h"

namespace gloveport::bench {
namespace {

struct StartSamples {
  Samples total;
  Samples open;
};

// Opens a session and runs its first cell; the session is closed outside of the time.
Status StartOnce(Runtime& runtime, Preloaded preloaded, StartSamples& samples) {
  const Stopwatch watch;
  ASSIGN_OR_RETURN(const auto session, OpenSession(runtime, preloaded));
  const double opened = watch.Microseconds();
  RETURN_IF_ERROR(RunCell(*session, kTrivialCell));
  samples.total.Add(watch.Microseconds());
  samples.open.Add(opened);
  return {};
}

Result<Measurement> FromPool(Mode mode, double aim_us) {
  constexpr std::size_t kReady = 4;
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(mode));
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, kReady));
  ASSIGN_OR_RETURN(auto trip, RoundTrip::Start(placement));
  ASSIGN_OR_RETURN(auto plain, PythonServer::Plain(placement));
  StartSamples samples;
  Samples trips;
  Samples compiles;
  Samples rested;
  for (int i = -5; i < 80; ++i) {
    StartSamples one;
    RETURN_IF_ERROR(StartOnce(*runtime, Preloaded::kStandardLibrary, one));
    // Until the pool is full again, and more: it fills itself in the background.
    std::this_thread::sleep_for(std::chrono::milliseconds(i == -5 ? 200 : 25));
    ASSIGN_OR_RETURN(const Samples first, plain->Ask("cell 1 1", kTrivialCell));
    ASSIGN_OR_RETURN(const Samples outside, plain->Ask("cell 2 10", kTrivialCell));
    const Samples socket = trip->OverSocket(1);
    if (i < 0) continue;  // warming up
    samples.total.Add(one.total);
    samples.open.Add(one.open);
    trips.Add(socket);
    rested.Add(first);
    compiles.Add(Samples({outside.Median() + socket.Median()}));
  }
  auto one = Measurement::Of("session_from_pool", mode, "us", samples.total,
                             "compile + exec + socketpair round trip", compiles);
  return one.Aim(fmt::format("<= {:g} us", aim_us), *one.value <= aim_us)
      .Note(fmt::format(
          "opening it takes {:.1f} us of that; the round trip alone {:.1f} us; compile + exec alone, in "
          "a plain Python that has rested as long as the pool, {:.1f} us",
          samples.open.Median(), trips.Median(), rested.Median()));
}

Result<Measurement> ByFork(Mode mode, Preloaded preloaded, double aim_ms) {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(mode));
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, 0));
  ASSIGN_OR_RETURN(auto image, PythonServer::Image(placement, PolicyWith(preloaded)));
  StartSamples samples;
  Samples forks;
  Samples values;
  for (int i = -3; i < 50; ++i) {
    StartSamples one;
    RETURN_IF_ERROR(StartOnce(*runtime, preloaded, one));
    ASSIGN_OR_RETURN(const Samples bare, image->Ask("fork 2"));
    ASSIGN_OR_RETURN(const Samples value, image->Ask("value 1", kTrivialCell));
    if (i < 0) continue;  // warming up
    samples.total.Add(one.total.Median() / 1000);
    samples.open.Add(one.open.Median() / 1000);
    forks.Add(bare.Median() / 1000);
    values.Add(value.Median() / 1000);
  }
  auto one = Measurement::Of(fmt::format("session_fork_{}", PreloadedName(preloaded)), mode, "ms",
                             samples.total, "bare fork + exit + wait of the same image", forks);
  return one.Aim(fmt::format("<= {:g} ms", aim_ms), *one.value <= aim_ms)
      .Note(fmt::format(
          "opening it takes {:.2f} ms of that; a fork of the image that only runs the cell takes {:.2f} ms",
          samples.open.Median(), values.Median()));
}

}  // namespace

Result<Measurements> MeasureSessionFromPool() {
  ASSIGN_OR_RETURN(Measurement one_core, FromPool(Mode::kPinned1, 40));
  ASSIGN_OR_RETURN(Measurement two_cores, FromPool(Mode::kPinned2, 100));
  return Measurements{one_core, two_cores};
}

Result<Measurements> MeasureSessionFork() {
  Measurements all;
  for (const Mode mode : {Mode::kPinned1, Mode::kPinned2}) {
    ASSIGN_OR_RETURN(Measurement stdlib, ByFork(mode, Preloaded::kStandardLibrary, 2));
    ASSIGN_OR_RETURN(Measurement pandas, ByFork(mode, Preloaded::kPandas, 3));
    all.push_back(std::move(stdlib));
    all.push_back(std::move(pandas));
  }
  return all;
}

}  // namespace gloveport::bench
