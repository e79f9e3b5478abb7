// Branches of a live session, and cells that a session survives.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "gloveport/tests/bench/figures.h"
#include "gloveport/tests/bench/python_server.h"
#include "gloveport/tests/bench/sessions.h"

namespace gloveport::bench {
namespace {

constexpr std::string_view kDicts = "_dicts = [{'id': i, 'name': f'item {i}'} for i in range(20_000)]\n0";

Result<Measurement> BranchIn(Mode mode) {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(mode));
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, 0));
  ASSIGN_OR_RETURN(auto image, PythonServer::Image(placement, PolicyWith(Preloaded::kStandardLibrary)));
  ASSIGN_OR_RETURN(auto session, OpenSession(*runtime, Preloaded::kStandardLibrary));
  RETURN_IF_ERROR(RunCell(*session, kDicts));
  RETURN_IF_ERROR(image->Ask("run", kDicts));
  Samples ours;
  Samples branching;
  Samples forks;
  for (int i = -3; i < 40; ++i) {
    const Stopwatch watch;
    ASSIGN_OR_RETURN(const auto branches, session->Branch(1));
    const double branched = watch.Microseconds() / 1000;
    ASSIGN_OR_RETURN(const CellResult result, RunCell(*branches[0], "len(_dicts)"));
    const double total = watch.Microseconds() / 1000;
    if (result.value != Value(20'000)) return Fail(ErrorCode::kInternal, "the branch has lost what it had");
    ASSIGN_OR_RETURN(const Samples bare, image->Ask("fork 2"));
    if (i < 0) continue;  // warming up
    ours.Add(total);
    branching.Add(branched);
    forks.Add(bare.Median() / 1000);
  }
  auto one = Measurement::Of("branch_20k_dicts", mode, "ms", ours,
                             "bare fork + exit + wait of the same image", forks);
  return one.Aim("<= 1.5 ms", *one.value <= 1.5)
      .Note(fmt::format("Branch(1) takes {:.2f} ms of that, its first cell the rest", branching.Median()));
}

// The difference between the same cell with a checkpoint before it and without.
Result<Measurement> TransactionalCell(Mode mode, Preloaded preloaded) {
  const bool pandas = preloaded == Preloaded::kPandas;
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(mode));
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, 0));
  ASSIGN_OR_RETURN(auto image, PythonServer::Image(placement, PolicyWith(preloaded)));
  ASSIGN_OR_RETURN(auto plain, OpenSession(*runtime, preloaded));
  ASSIGN_OR_RETURN(auto safe, OpenSession(*runtime, preloaded, nullptr, Checkpoints::kEachCell));
  Samples with;
  Samples without;
  Samples overhead;
  Samples forks;
  for (int i = -3; i < 40; ++i) {
    const Stopwatch plain_watch;
    RETURN_IF_ERROR(RunCell(*plain, kTrivialCell));
    const double plain_time = plain_watch.Microseconds() / 1000;
    const Stopwatch safe_watch;
    RETURN_IF_ERROR(RunCell(*safe, kTrivialCell));
    const double safe_time = safe_watch.Microseconds() / 1000;
    ASSIGN_OR_RETURN(const Samples bare, image->Ask("fork 2"));
    if (i < 0) continue;  // warming up
    with.Add(safe_time);
    without.Add(plain_time);
    overhead.Add(safe_time - plain_time);
    forks.Add(bare.Median() / 1000);
  }
  auto one = Measurement::Of(pandas ? "transactional_cell_pandas" : "transactional_cell", mode, "ms",
                             overhead, "bare fork + exit + wait of the same image", forks);
  return one.Aim(pandas ? "<= 1.2 x bare fork" : "<= 1 ms", pandas ? *one.ratio <= 1.2 : *one.value <= 1)
      .Note(fmt::format("a trivial cell takes {:.2f} ms with a checkpoint before it, {:.2f} ms without",
                        with.Median(), without.Median()));
}

}  // namespace

Result<Measurements> MeasureBranch() {
  Measurements all;
  for (const Mode mode : {Mode::kPinned1, Mode::kPinned2}) {
    ASSIGN_OR_RETURN(Measurement one, BranchIn(mode));
    all.push_back(std::move(one));
  }
  return all;
}

Result<Measurements> MeasureTransactionalCell() {
  Measurements all;
  for (const Mode mode : {Mode::kPinned1, Mode::kPinned2}) {
    for (const Preloaded preloaded : {Preloaded::kStandardLibrary, Preloaded::kPandas}) {
      ASSIGN_OR_RETURN(Measurement one, TransactionalCell(mode, preloaded));
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace gloveport::bench
