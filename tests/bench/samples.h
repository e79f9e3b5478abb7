// Samples: what one figure measured, and what is said of it: the median, and where a tenth lies beyond.
#ifndef GLOVEPORT_TESTS_BENCH_SAMPLES_H_
#define GLOVEPORT_TESTS_BENCH_SAMPLES_H_

#include <chrono>
#include <vector>

namespace gloveport::bench {

class Samples {
 public:
  Samples() = default;
  explicit Samples(std::vector<double> values) : values_(std::move(values)) {}

  void Add(double value) { values_.push_back(value); }
  void Add(const Samples& more) { values_.insert(values_.end(), more.values_.begin(), more.values_.end()); }

  bool empty() const { return values_.empty(); }
  const std::vector<double>& values() const { return values_; }
  double Mean() const;
  double Median() const { return Percentile(50); }
  double Percentile(double percent) const;  // 0 where there is none

 private:
  std::vector<double> values_;
};

// Microseconds from its making.
class Stopwatch {
 public:
  double Microseconds() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace gloveport::bench

#endif  // GLOVEPORT_TESTS_BENCH_SAMPLES_H_
