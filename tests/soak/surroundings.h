// What a host has and leaves on a machine: counted before and after, it must be the same.
#ifndef GLOVEPORT_TESTS_SOAK_SURROUNDINGS_H_
#define GLOVEPORT_TESTS_SOAK_SURROUNDINGS_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <vector>

namespace gloveport {

struct Surroundings {
  std::size_t descriptors = 0;  // of this process
  std::size_t threads = 0;
  std::size_t descendants = 0;  // processes; those whose parent died are this process's (see AdoptOrphans)
  std::size_t mounts = 0;       // that this process sees
  std::size_t folders = 0;      // of ours in the folder for temporary files

  static Surroundings Now();
  friend bool operator==(const Surroundings&, const Surroundings&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Surroundings& s) {
    return out << s.descriptors << " descriptors, " << s.threads << " threads, " << s.descendants
               << " processes, " << s.mounts << " mounts, " << s.folders << " folders";
  }
};

// Orphans below this process become its children instead of init's, so that none can hide.
void AdoptOrphans();
// All live processes below this one; and those of them that have none below them: sessions, not templates.
std::vector<pid_t> Descendants();
std::vector<pid_t> Leaves();
// Buries the templates whose launcher was killed: zombies that AdoptOrphans made ours and no host waits for.
// Says how many other zombies are this process's children: none after a host closed that waits for its own.
std::size_t BuryOrphans();
// Waits until there are at most `count`.
bool DescendantsShrinkTo(std::size_t count, std::chrono::milliseconds patience);

std::size_t ResidentMib();

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_SOAK_SURROUNDINGS_H_
