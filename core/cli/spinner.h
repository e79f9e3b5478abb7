// Spinner: while it lives, the console's status line shows what is waited for, and for how long. Nothing
// where notes go to no terminal.
#ifndef GLOVEPORT_CORE_CLI_SPINNER_H_
#define GLOVEPORT_CORE_CLI_SPINNER_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "gloveport/core/cli/console.h"

namespace gloveport {

class Spinner {
 public:
  // `console` must outlive it. `what`: safe to show.
  Spinner(Console& console, std::string what);
  ~Spinner();
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

  void SetWhat(std::string what);  // the time goes on

 private:
  void Turn(const std::stop_token& stop);

  Console& console_;
  const std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string what_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_SPINNER_H_
