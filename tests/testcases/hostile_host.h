// The host's side of a hostile child: a runtime that starts it, and what the host must have lost nothing of.
#ifndef GLOVEPORT_TESTS_TESTCASES_HOSTILE_HOST_H_
#define GLOVEPORT_TESTS_TESTCASES_HOSTILE_HOST_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>

#include "gloveport/core/host/runtime.h"

namespace gloveport {

// What this process has at one moment.
struct Footprint {
  std::size_t descriptors = 0;
  std::size_t threads = 0;

  static Footprint Now();
  friend bool operator==(const Footprint&, const Footprint&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Footprint& print) {
    return out << print.descriptors << " descriptors, " << print.threads << " threads";
  }
};

// Processes of the hostile program, wherever they hang in the tree.
std::size_t HostileProcesses();
// Waits for the last of them to go.
bool AllHostileProcessesEnd(std::chrono::milliseconds patience);

// Resident memory of this process now, in MiB; and its greatest value since the last ResetPeakMemory.
void ResetPeakMemory();
std::size_t PeakMemoryMib();

std::chrono::nanoseconds CpuTimeOfThisProcess();

// How opening a session fails because of a misdeed.
struct OpenCase {
  const char* misdeed;
  ErrorCode code;
  const char* message;  // part of it
};

// A runtime whose interpreter is the hostile child with this misdeed. Each test ends with nothing left.
class HostileHost : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::unique_ptr<Runtime> Start(const std::string& misdeed, const Patience& patience = {},
                                 std::size_t min_ready = 0);
  // A policy that extends `open` with these limits; one tool "wait" that answers when it is stopped.
  static SessionOptions Options(const std::string& limits = "");
  static Result<CellResult> Run(Session& session);
  // In time, and a second try is as good as the first. The host waits for silent children only as long as
  // `patience`.
  void ExpectThatOpenFails(const OpenCase& c, const Patience& patience);

 private:
  std::filesystem::path folder_;
  Footprint before_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_TESTCASES_HOSTILE_HOST_H_
