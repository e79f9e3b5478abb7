#include "gloveport/core/wire/shared_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace gloveport {
namespace {

// Before each place: whether it is in use. The receiver clears it.
constexpr std::uint64_t kHeaderBytes = 64;
constexpr std::uint32_t kInUse = 1;

std::atomic_ref<std::uint32_t> Flag(std::span<std::byte> memory, std::uint64_t begin) {
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(memory.data() + begin));
}

std::uint64_t RoundUp(std::uint64_t bytes) {
  return (bytes + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
}

}  // namespace

void SharedSpace::Reclaim() {
  std::erase_if(places_, [&](const Place& place) {
    return Flag(memory_, place.begin).load(std::memory_order_acquire) != kInUse;
  });
}

std::optional<std::uint64_t> SharedSpace::Put(std::span<const std::byte> bytes) {
  if (bytes.size() > memory_.size()) return std::nullopt;
  Reclaim();
  const std::uint64_t need = kHeaderBytes + RoundUp(bytes.size());
  std::uint64_t begin = 0;  // the first gap that is large enough
  auto next = places_.begin();
  for (; next != places_.end() && next->begin - begin < need; ++next) begin = next->end;
  if (next == places_.end() && memory_.size() - begin < need) return std::nullopt;
  places_.insert(next, {begin, begin + need});
  touched_ = std::max(touched_, begin + need);
  std::memcpy(memory_.data() + begin + kHeaderBytes, bytes.data(), bytes.size());
  Flag(memory_, begin).store(kInUse, std::memory_order_release);
  return begin + kHeaderBytes;
}

void SharedSpace::Withdraw(std::uint64_t at) {
  std::erase_if(places_, [&](const Place& place) { return place.begin + kHeaderBytes == at; });
}

bool SharedSpace::Trim() {
  Reclaim();
  if (touched_ == 0 || !places_.empty()) return false;
  ::madvise(memory_.data(), touched_, MADV_REMOVE);
  touched_ = 0;
  return true;
}

std::optional<std::string_view> SharedView::At(std::uint64_t at, std::uint64_t size) const {
  if (at < kHeaderBytes || at % kHeaderBytes != 0 || at > memory_.size() || size > memory_.size() - at)
    return std::nullopt;
  used_ = true;
  return std::string_view(reinterpret_cast<const char*>(memory_.data() + at), size);
}

void SharedView::GiveBack(std::uint64_t at) const {
  Flag(memory_, at - kHeaderBytes).store(0, std::memory_order_release);
}

void SharedView::Trim() {
  ::madvise(memory_.data(), memory_.size(), MADV_REMOVE);
  used_ = false;
}

}  // namespace gloveport
