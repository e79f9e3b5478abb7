// Patience: how long the host waits for a child that should answer. A plain value.
#ifndef GLOVEPORT_CORE_HOST_PATIENCE_H_
#define GLOVEPORT_CORE_HOST_PATIENCE_H_

#include <chrono>

namespace gloveport {

struct Patience {
  // Until a template is warm: it imports what the policy preloads, numpy and pandas too, on a cold machine.
  std::chrono::milliseconds template_start{60'000};
  // Until a fork of it is confined and ready; and for each answer of a template, which takes milliseconds.
  std::chrono::milliseconds session_start{20'000};
  // For one question outside of cells: a variable, a list of tools, a verdict.
  std::chrono::milliseconds answer{20'000};
  // For a question of an editor (completions, help), which may run code of cells. Then it is stopped, and the
  // process is killed where that takes longer than two seconds.
  std::chrono::milliseconds question{5'000};
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_PATIENCE_H_
