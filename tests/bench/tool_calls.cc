// A tool call from Python and back, with small arguments and with 100 MB.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <vector>

#include "gloveport/core/wire/ndarray_view.h"
#include "gloveport/tests/bench/figures.h"
#include "gloveport/tests/bench/round_trip.h"
#include "gloveport/tests/bench/sessions.h"
#include "gloveport/tools/registry.h"

namespace gloveport::bench {
namespace {

constexpr std::string_view kLoops = R"(
from time import perf_counter as _clock
def _calls(times):
    start = _clock()
    for _ in range(times):
        add(20, 22)
    return (_clock() - start) / times * 1e6
def _calls_elsewhere(times):
    start = _clock()
    for _ in range(times):
        add_elsewhere(20, 22)
    return (_clock() - start) / times * 1e6
def _echo():
    start = _clock()
    back = echo(_array)
    return (_clock() - start) * 1e6
)";

std::shared_ptr<const ToolRegistry> Tools() {
  auto tools = std::make_shared<ToolRegistry>();
  const auto add = [](std::int64_t a, std::int64_t b) { return a + b; };
  const std::vector<Arg> args = {Arg("a", "one"), Arg("b", "other")};
  (void)tools->Add("add", "Adds.", add, args, {.is_quick = true});
  (void)tools->Add("add_elsewhere", "Adds, on another thread.", add, args);
  (void)tools->Add("echo", "Gives back.", [](NdarrayView array) { return array; }, {Arg("array", "what")});
  return tools;
}

// What a cell gives as a list of numbers.
Result<Samples> Measured(Session& session, const std::string& code) {
  ASSIGN_OR_RETURN(const CellResult result, RunCell(session, code));
  Samples samples;
  if (!result.value.is_list()) return Fail(ErrorCode::kInternal, "the cell gave no list");
  for (const Value& number : result.value.as_list()) {
    if (!number.is_double()) return Fail(ErrorCode::kInternal, "the cell gave no numbers");
    samples.Add(number.as_double());
  }
  return samples;
}

struct ToolCallSamples {
  Samples call;
  Samples elsewhere;  // of the same tool, but on a thread of the dispatcher
  Samples socket;
  Samples futex;
};

Result<ToolCallSamples> MeasureIn(const Placement& placement, int rounds, int batches, int batch) {
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, 0));
  ASSIGN_OR_RETURN(auto session, OpenSession(*runtime, Preloaded::kStandardLibrary, Tools()));
  ASSIGN_OR_RETURN(auto trip, RoundTrip::Start(placement));
  RETURN_IF_ERROR(RunCell(*session, kLoops));
  const std::string cell = fmt::format("[_calls({}) for _ in range({})]", batch, batches);
  const std::string cell_elsewhere = fmt::format("[_calls_elsewhere({}) for _ in range(4)]", batch);
  ToolCallSamples all;
  for (int round = 0; round <= rounds; ++round) {
    ASSIGN_OR_RETURN(const Samples calls, Measured(*session, cell));
    ASSIGN_OR_RETURN(const Samples elsewhere, Measured(*session, cell_elsewhere));
    const Samples socket = trip->OverSocket(batches, batch);
    const Samples futex = trip->ByFutex(batches, batch);
    if (round == 0) continue;  // warming up
    all.call.Add(calls);
    all.elsewhere.Add(elsewhere);
    all.socket.Add(socket);
    all.futex.Add(futex);
  }
  return all;
}

std::string NoteOf(const ToolCallSamples& all) {
  return fmt::format(
      "mean {:.2f} us; futex round trip {:.2f} us; a tool that is not declared quick {:.1f} us",
      all.call.Mean(), all.futex.Median(), all.elsewhere.Median());
}

Result<Measurement> OnIdleSecondCore() {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(Mode::kPinned2));
  ASSIGN_OR_RETURN(const ToolCallSamples all, MeasureIn(placement, 20, 20, 50));
  auto one =
      Measurement::Of("tool_call_small", Mode::kPinned2, "us", all.call, "socketpair round trip", all.socket);
  return one.Aim("<= 1.5 us", *one.value <= 1.5).Note(NoteOf(all));
}

Result<Measurement> OnOneCore() {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(Mode::kPinned1));
  ASSIGN_OR_RETURN(const ToolCallSamples all, MeasureIn(placement, 20, 20, 50));
  auto one =
      Measurement::Of("tool_call_small", Mode::kPinned1, "us", all.call, "socketpair round trip", all.socket);
  return one.Aim("<= 9 us and below the round trip", *one.value <= 9 && *one.ratio < 1).Note(NoteOf(all));
}

// A mean: what the scheduler does now and then is what this is about.
Result<Measurement> BesideBusyProcess() {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(Mode::kUnpinned));
  const auto busy = StartBusyProcess(placement);
  ASSIGN_OR_RETURN(const ToolCallSamples all, MeasureIn(placement, 20, 20, 50));
  auto one = Measurement::Of("tool_call_small", Mode::kUnpinned, "us", all.call, "socketpair round trip",
                             all.socket);
  one.note = fmt::format(
      "beside one busy process; the value is the mean, the median is {:.2f} us; a tool that is not "
      "declared quick: mean {:.1f} us",
      all.call.Median(), all.elsewhere.Mean());
  one.value = all.call.Mean();
  one.yardstick = all.socket.Mean();
  one.ratio = *one.value / *one.yardstick;
  return one.Aim("mean <= 8 us", *one.value <= 8);
}

}  // namespace

Result<Measurements> MeasureToolCall() {
  Measurements all;
  for (const auto measure : {OnOneCore, OnIdleSecondCore, BesideBusyProcess}) {
    ASSIGN_OR_RETURN(Measurement one, measure());
    all.push_back(std::move(one));
  }
  return all;
}

Result<Measurements> MeasureArray() {
  constexpr std::size_t kBytes = 100'000'000;
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(Mode::kUnpinned));
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, 0));
  ASSIGN_OR_RETURN(auto session, OpenSession(*runtime, Preloaded::kPandas, Tools()));
  RETURN_IF_ERROR(RunCell(*session, kLoops));
  RETURN_IF_ERROR(RunCell(*session, fmt::format("import numpy; _array = numpy.ones({}, 'f8')", kBytes / 8)));
  std::vector<char> from(kBytes, 'a');
  std::vector<char> to(kBytes, 'b');
  Samples there_and_back;
  Samples copies;
  for (int round = 0; round < 7; ++round) {
    ASSIGN_OR_RETURN(const Samples call, Measured(*session, "[_echo()]"));
    const Stopwatch watch;
    std::memcpy(to.data(), from.data(), kBytes);
    std::memcpy(from.data(), to.data(), kBytes);
    const double copied = watch.Microseconds();
    if (round == 0) continue;
    there_and_back.Add(call.Median() / 1000);
    copies.Add(copied / 1000);
  }
  auto one =
      Measurement::Of("array_100mb", Mode::kUnpinned, "ms", there_and_back, "two memcpy of 100 MB", copies);
  one.ratio = *one.yardstick / *one.value;  // of the speeds
  one.Aim(">= 0.5 x memcpy", *one.ratio >= 0.5).Note("the ratio is that of the speeds: memcpy / ours");
  return Measurements{one};
}

}  // namespace gloveport::bench
