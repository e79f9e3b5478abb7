#include "gloveport/tests/bench/measurement.h"

namespace gloveport::bench {

Measurement Measurement::Of(std::string name, Mode mode, std::string unit, Samples ours,
                            std::string yardstick_name, const Samples& yardstick) {
  Measurement measured;
  measured.name = std::move(name);
  measured.mode = mode;
  measured.unit = std::move(unit);
  measured.value = ours.Median();
  measured.samples = std::move(ours);
  measured.yardstick_name = std::move(yardstick_name);
  measured.yardstick = yardstick.Median();
  if (*measured.yardstick > 0) measured.ratio = *measured.value / *measured.yardstick;
  return measured;
}

Measurement Measurement::NotMeasured(std::string name, Mode mode, std::string aim, std::string why) {
  Measurement missing;
  missing.name = std::move(name);
  missing.mode = mode;
  missing.aim = std::move(aim);
  missing.note = "not measured: " + std::move(why);
  return missing;
}

}  // namespace gloveport::bench
