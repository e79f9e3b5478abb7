#include "gloveport/tests/bench/samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gloveport::bench {

double Samples::Mean() const {
  if (values_.empty()) return 0;
  return std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
}

double Samples::Percentile(double percent) const {
  if (values_.empty()) return 0;
  std::vector<double> sorted = values_;
  std::ranges::sort(sorted);
  const double at = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - std::floor(at));
}

}  // namespace gloveport::bench
