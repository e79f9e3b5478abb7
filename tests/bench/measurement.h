// Measurement: one figure beside its yardstick, as it stands in results.json and in the table.
#ifndef GLOVEPORT_TESTS_BENCH_MEASUREMENT_H_
#define GLOVEPORT_TESTS_BENCH_MEASUREMENT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/tests/bench/placement.h"
#include "gloveport/tests/bench/samples.h"

namespace gloveport::bench {

struct Measurement {
  std::string name;
  Mode mode = Mode::kUnpinned;
  std::string unit;
  std::optional<double> value;  // absent: not measured, and `note` says why
  Samples samples;              // what `value` was taken of; may be empty
  std::string yardstick_name;
  std::optional<double> yardstick;
  std::optional<double> ratio;  // value / yardstick, unless the figure says otherwise
  std::string aim;
  bool met = false;
  std::string note;  // one line: what else was seen

  // The median of ours beside the median of the yardstick's.
  static Measurement Of(std::string name, Mode mode, std::string unit, Samples ours,
                        std::string yardstick_name, const Samples& yardstick);
  static Measurement NotMeasured(std::string name, Mode mode, std::string aim, std::string why);

  Measurement& Aim(std::string text, bool is_met) {
    aim = std::move(text);
    met = is_met;
    return *this;
  }
  Measurement& Note(std::string text) {
    note = std::move(text);
    return *this;
  }
};

using Measurements = std::vector<Measurement>;

}  // namespace gloveport::bench

#endif  // GLOVEPORT_TESTS_BENCH_MEASUREMENT_H_
