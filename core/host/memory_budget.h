// MemoryBudget: how much memory of the host's one cell may take with what it sends. A value of a few bytes on
// the wire can be many times as large once it is decoded, so items are counted as well as bytes.
#ifndef GLOVEPORT_CORE_HOST_MEMORY_BUDGET_H_
#define GLOVEPORT_CORE_HOST_MEMORY_BUDGET_H_

#include <cstdint>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/shared_space.h"
#include "gloveport/core/wire/value.h"

namespace gloveport {

// Not thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t limit_bytes) : limit_(limit_bytes) {}

  // False where it would be more than the limit; then nothing is taken.
  [[nodiscard]] bool Take(std::uint64_t bytes);
  void Release(std::uint64_t bytes) { used_ -= bytes; }

  std::uint64_t limit_bytes() const { return limit_; }
  std::uint64_t used_bytes() const { return used_; }
  std::uint64_t left_bytes() const { return limit_ - used_; }

 private:
  std::uint64_t limit_;
  std::uint64_t used_ = 0;
};

// About what a value takes in memory.
std::uint64_t CostOf(const Value& value);

struct BudgetedValue {
  Value value;
  std::uint64_t cost = 0;  // taken from the budget
};
// Decodes one value and takes its cost. kResourceExhausted where there is not that much left, found out
// before the memory is used; kProtocol for what is no value.
// Bytes in `shared` count like those in `encoded`, and are given back.
Result<BudgetedValue> DecodeWithin(MemoryBudget& budget, std::string_view encoded,
                                   const SharedView* shared = nullptr);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_MEMORY_BUDGET_H_
