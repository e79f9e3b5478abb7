// A cell: inside of the child, as its caller sees it, and how many in a second.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gloveport/tests/bench/figures.h"
#include "gloveport/tests/bench/python_server.h"
#include "gloveport/tests/bench/round_trip.h"
#include "gloveport/tests/bench/sessions.h"

namespace gloveport::bench {
namespace {

constexpr std::string_view kTenLines = R"(prices = {"pear": 1.2, "apple": 0.8, "plum": 2.5}
stock = [("pear", 10), ("apple", 25), ("plum", 4)]
total = 0.0
for name, count in stock:
    cost = prices[name] * count
    if cost > 10:
        total += cost
    else:
        total += cost * 0.9
f"{total:.2f}")";

struct NamedCell {
  const char* name;
  std::string_view text;
};
constexpr NamedCell kCells[] = {
    {"cell_trivial", kTrivialCell}, {"cell_one_line", "x = 20 + 22; x"}, {"cell_ten_lines", kTenLines}};

Result<Measurement> InsideOfTheChild(const NamedCell& cell) {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(Mode::kPinned1));
  ASSIGN_OR_RETURN(auto image, PythonServer::Image(placement, PolicyWith(Preloaded::kStandardLibrary)));
  ASSIGN_OR_RETURN(auto plain, PythonServer::Plain(placement));
  Samples inside;
  Samples outside;
  for (int round = 0; round <= 15; ++round) {
    ASSIGN_OR_RETURN(const Samples ours, image->Ask("cell 20 20", cell.text));
    ASSIGN_OR_RETURN(const Samples theirs, plain->Ask("cell 20 20", cell.text));
    if (round == 0) continue;  // warming up
    inside.Add(ours);
    outside.Add(theirs);
  }
  auto one = Measurement::Of(cell.name, Mode::kPinned1, "us", inside, "CPython compile + exec", outside);
  return one.Aim("<= 1.1 x compile + exec", *one.ratio <= 1.1)
      .Note(
          "inside of the child (a program that runs its cell runner); compiled, run, the value described and "
          "encoded");
}

Result<Measurement> SeenByTheCaller(Mode mode) {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(mode));
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, 0));
  ASSIGN_OR_RETURN(auto session, OpenSession(*runtime, Preloaded::kStandardLibrary));
  ASSIGN_OR_RETURN(auto plain, PythonServer::Plain(placement));
  ASSIGN_OR_RETURN(auto trip, RoundTrip::Start(placement));
  Samples ours;
  Samples yardstick;
  Samples trips;
  for (int round = 0; round <= 15; ++round) {
    Samples seen;
    for (int i = 0; i < 100; ++i) {
      const Stopwatch watch;
      RETURN_IF_ERROR(RunCell(*session, kTrivialCell));
      seen.Add(watch.Microseconds());
    }
    ASSIGN_OR_RETURN(const Samples outside, plain->Ask("cell 20 20", kTrivialCell));
    const Samples socket = trip->OverSocket(20);
    if (round == 0) continue;  // warming up
    ours.Add(seen);
    trips.Add(socket);
    yardstick.Add(Samples({outside.Median() + socket.Median()}));
  }
  auto one = Measurement::Of("cell_seen_by_caller", mode, "us", ours,
                             "compile + exec + socketpair round trip", yardstick);
  return one.Aim("<= 1.1 x that", *one.ratio <= 1.1)
      .Note(fmt::format("Session::Run of the trivial cell; the round trip alone {:.1f} us", trips.Median()));
}

// Cells per second of `sessions`, each driven by a thread of its own.
Result<double> RateOf(std::vector<std::unique_ptr<Session>>& sessions, std::size_t count,
                      std::chrono::milliseconds time) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> cells{0};
  std::atomic<bool> failed{false};
  std::vector<std::jthread> threads;
  const Stopwatch watch;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      std::uint64_t own = 0;
      for (; !stop; ++own) {
        if (!RunCell(*sessions[i], kTrivialCell)) failed = true;
        if (failed) break;
      }
      cells += own;
    });
  }
  std::this_thread::sleep_for(time);
  stop = true;
  threads.clear();
  if (failed) return Fail(ErrorCode::kInternal, "a cell failed");
  return static_cast<double>(cells) / (watch.Microseconds() / 1e6);
}

// Two plain Pythons at the same time.
Result<double> PlainRate(PythonServer& one, PythonServer& other) {
  Result<Samples> second = Fail(ErrorCode::kInternal, "not asked");
  std::jthread thread([&] { second = other.Ask("rate 0.4", kTrivialCell); });
  ASSIGN_OR_RETURN(const Samples first, one.Ask("rate 0.4", kTrivialCell));
  thread.join();
  if (!second) return tl::unexpected<Error>(second.error());
  return first.Median() + second->Median();
}

}  // namespace

Result<Measurements> MeasureTrivialCell() {
  Measurements all;
  for (const NamedCell& cell : kCells) {
    ASSIGN_OR_RETURN(Measurement one, InsideOfTheChild(cell));
    all.push_back(std::move(one));
  }
  for (const Mode mode : {Mode::kPinned1, Mode::kPinned2}) {
    ASSIGN_OR_RETURN(Measurement one, SeenByTheCaller(mode));
    all.push_back(std::move(one));
  }
  return all;
}

Result<Measurements> MeasureCellsPerSecond() {
  constexpr std::size_t kCounts[] = {1, 2, 4, 16, 64};
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(Mode::kUnpinned));
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, 0));
  ASSIGN_OR_RETURN(auto plain, PythonServer::Plain(placement));
  ASSIGN_OR_RETURN(auto other, PythonServer::Plain(placement));
  std::vector<std::unique_ptr<Session>> sessions;
  for (std::size_t i = 0; i < 64; ++i) {
    ASSIGN_OR_RETURN(auto session, OpenSession(*runtime, Preloaded::kStandardLibrary));
    RETURN_IF_ERROR(RunCell(*session, kTrivialCell));
    sessions.push_back(std::move(session));
  }
  Samples yardstick;
  Samples rates[std::size(kCounts)];
  for (int round = 0; round < 4; ++round) {
    ASSIGN_OR_RETURN(const double plain_rate, PlainRate(*plain, *other));
    if (round > 0) yardstick.Add(plain_rate);
    for (std::size_t i = 0; i < std::size(kCounts); ++i) {
      ASSIGN_OR_RETURN(const double rate, RateOf(sessions, kCounts[i], std::chrono::milliseconds(400)));
      if (round > 0) rates[i].Add(rate);
    }
  }
  std::string growth;
  for (std::size_t i = 0; i < std::size(kCounts); ++i)
    growth += fmt::format("{}{} sessions {:.0f}", i ? ", " : "", kCounts[i], rates[i].Median());
  auto one = Measurement::Of("cells_per_second", Mode::kUnpinned, "cells/s", rates[std::size(kCounts) - 1],
                             "compile + exec in two plain Pythons, per second", yardstick);
  return Measurements{
      one.Aim("64 sessions, not less than 1", *one.value >= rates[0].Median()).Note("cells/s of " + growth)};
}

}  // namespace gloveport::bench
