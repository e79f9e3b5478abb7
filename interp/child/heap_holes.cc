#include "gloveport/interp/child/heap_holes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {
namespace {

constexpr std::size_t kStep = 16;  // sizes of blocks and chunks, of both allocators

std::uintptr_t AddressOf(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

// ---- the C library's heap ----

constexpr std::size_t kLargestHole = 96 * 1024;  // below the size from which glibc maps memory apart

// What no hole is large enough for comes from the end of the heap, above all holes.
std::uintptr_t EndOfHeap() {
  std::array<void*, 8> places{};
  for (void*& place : places) place = PyMem_RawMalloc(kLargestHole);
  const void* highest = *std::ranges::max_element(places, {}, AddressOf);
  for (void* place : places) PyMem_RawFree(place);
  return AddressOf(highest);
}

// Chunks of one size, as long as there are holes for them.
void FillHolesOf(std::size_t size, std::uintptr_t end_of_heap) {
  void* place = PyMem_RawMalloc(size);
  while (place != nullptr && AddressOf(place) < end_of_heap) place = PyMem_RawMalloc(size);
  PyMem_RawFree(place);
}

void FillCHeap() {
  const std::uintptr_t end = EndOfHeap();
  std::size_t size = kLargestHole;
  for (; size > 1024; size -= size / 16 / kStep * kStep) FillHolesOf(size, end);
  for (; size >= kStep; size -= kStep) FillHolesOf(size, end);
}

// ---- CPython's pools ----

constexpr std::size_t kLargestPooled = 512;
constexpr std::size_t kPoolBytes = 16 * 1024;
constexpr int kMostBlocks = 100'000;  // of one size: more are not tried

// Blocks of one size, until one pool after the other is used that nothing else is in: its blocks stand side
// by side.
void FillPools(std::size_t size) {
  const std::size_t whole = kPoolBytes / size * 3 / 4;
  std::vector<void*> in_a_row;
  for (int i = 0; i < kMostBlocks && in_a_row.size() < whole; ++i) {
    void* block = PyObject_Malloc(size);
    if (block == nullptr) break;
    if (!in_a_row.empty() && AddressOf(block) != AddressOf(in_a_row.back()) + size) in_a_row.clear();
    in_a_row.push_back(block);
  }
  for (void* block : in_a_row) PyObject_Free(block);
}

}  // namespace

void FillHeapHoles() {
  for (std::size_t size = kStep; size <= kLargestPooled; size += kStep) FillPools(size);
  FillCHeap();
}

}  // namespace gloveport::child
