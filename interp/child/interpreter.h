// Interpreter: the one CPython of the process. It is started and warmed up in the template and never shut
// down; a session is a fork of it. Every function is called by the main thread, which holds the GIL from
// Start on.
#ifndef GLOVEPORT_INTERP_CHILD_INTERPRETER_H_
#define GLOVEPORT_INTERP_CHILD_INTERPRETER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport {

// What a template has ready for its forks.
enum class WarmUp {
  kAhead,     // our own parts, whatever a first cell may need, all modules named
  kOnDemand,  // our own parts; of the modules named those that are not the standard library's: cells import
              // that
  kInspector  // the modules named: no cell will ever run
};

struct InterpreterConfig {
  std::vector<std::string> packages;  // extra read-only package folders, appended to sys.path
  WarmUp warm_up = WarmUp::kAhead;
  std::optional<std::uint32_t> hash_seed;  // as PYTHONHASHSEED; absent: random
};

class Interpreter {
 public:
  Interpreter() = delete;

  // Installs the audit hook and initializes CPython: isolated, no site, UTF-8 mode, every path given by the
  // build and none derived from the environment. sys.path never contains '' or the work folder. Call it once.
  static Status Start(const InterpreterConfig& config);

  // Imports modules as `warm_up` says; ahead, it also runs a throw-away cell. Joins every thread that this
  // started. Modules that are not installed are no error: see Missing.
  static Status Preload(const std::vector<std::string>& modules, WarmUp warm_up = WarmUp::kAhead);

  // The names given to Preload that could not be imported, each with the reason: "pyarrow: No module named
  // 'pyarrow'".
  static const std::vector<std::string>& Missing();

  // Collects garbage and moves what is left out of the collector's sight, so that a fork copies fewer pages.
  static void Freeze();

  // To be called first in the child of a fork. Random number generators start afresh; with `seed` they
  // repeat: the system's as this process sees it (repeatable.h), and with it uuid4 and secrets, random and
  // numpy.random.
  static Status AfterFork(std::optional<std::uint64_t> seed);
};

}  // namespace gloveport

#endif  // GLOVEPORT_INTERP_CHILD_INTERPRETER_H_
