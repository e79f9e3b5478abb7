#include "gloveport/core/host/memory_budget.h"

#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/wire/cbor.h"

namespace gloveport {
namespace {

constexpr std::uint64_t kItemBytes = 64;  // a Value, and its share of the block that holds it

std::uint64_t BytesOf(const Value& value) {
  if (value.is_text()) return value.as_text().size();
  if (value.is_bytes()) return value.as_bytes().size();
  if (value.is_big_int()) return value.as_big_int().magnitude.size();
  return 0;
}

}  // namespace

bool MemoryBudget::Take(std::uint64_t bytes) {
  if (bytes > left_bytes()) return false;
  used_ += bytes;
  return true;
}

std::uint64_t CostOf(const Value& value) {
  std::uint64_t cost = kItemBytes + BytesOf(value);
  if (value.is_list()) {
    for (const Value& item : value.as_list()) cost += CostOf(item);
  } else if (value.is_map()) {
    for (const auto& [key, item] : value.as_map()) cost += CostOf(key) + CostOf(item);
  } else if (value.is_extended()) {
    cost += CostOf(value.payload());
  }
  return cost;
}

Result<BudgetedValue> DecodeWithin(MemoryBudget& budget, std::string_view encoded, const SharedView* shared) {
  WireLimits limits;
  const std::uint64_t room =
      encoded.size() > budget.left_bytes() ? 0 : (budget.left_bytes() - encoded.size()) / kItemBytes;
  const bool narrowed = room < limits.max_items;
  limits.max_items = std::min<std::uint64_t>(limits.max_items, room);
  // What the items take is not known before they are read: an eighth of the room is left for them.
  WireLimits most = limits;
  most.max_bytes = std::min<std::uint64_t>(limits.max_bytes, budget.left_bytes() - budget.left_bytes() / 8);
  CborReader reader(encoded, shared ? most : limits, shared);
  auto value = encoded.size() > limits.max_bytes
                   ? Result<Value>(Fail(ErrorCode::kProtocol, "a value with more bytes than are allowed"))
                   : ReadValue(reader);
  const bool too_many_items = narrowed && reader.items() > limits.max_items;
  const std::uint64_t cost = encoded.size() + reader.shared_bytes() + reader.items() * kItemBytes;
  if ((!value && (too_many_items || reader.too_many_bytes())) || cost > budget.left_bytes()) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("more than the {} MiB of the host's memory that a cell may take",
                            budget.limit_bytes() >> 20));
  }
  if (!value) return tl::unexpected<Error>(std::move(value).error());
  if (!reader.AtEnd()) return Fail(ErrorCode::kProtocol, "bytes after the end of a value");
  if (!budget.Take(cost)) return Fail(ErrorCode::kInternal, "a budget was counted wrongly");
  return BudgetedValue{std::move(*value), cost};
}

}  // namespace gloveport
