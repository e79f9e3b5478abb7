// The text that a fuzzer gives, and what a broken promise does: abort, so that the fuzzer keeps the input.
#ifndef GLOVEPORT_TESTS_FUZZ_FUZZ_INPUT_H_
#define GLOVEPORT_TESTS_FUZZ_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#define PROMISE(condition)                                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)

inline std::string_view TextOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

#endif  // GLOVEPORT_TESTS_FUZZ_FUZZ_INPUT_H_
