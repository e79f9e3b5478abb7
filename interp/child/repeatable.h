// What makes a session repeatable: a wall clock that the host sets, and random numbers that come of a seed.
//
// The functions of the C library that everything in this process asks, from Python, its modules and native
// libraries, are ours: clock_gettime, gettimeofday, time and timespec_get for the wall clock; getrandom,
// getentropy and arc4random for random numbers. Until a session sets or seeds something they answer as the
// library's own do. Monotonic clocks stay real, for timed waits depend on them. Beyond reach: system calls
// made by number, the processor's own generator, files such as /dev/urandom, and times of files.
//
// Thread-safe; in which order threads take their random numbers and readings is up to them.
#ifndef GLOVEPORT_INTERP_CHILD_REPEATABLE_H_
#define GLOVEPORT_INTERP_CHILD_REPEATABLE_H_

#include <chrono>
#include <cstdint>

namespace gloveport::child {

// From now on random numbers are those of this seed. They guard nothing: whoever knows the seed knows them.
void SeedRandomNumbers(std::uint64_t seed);

// From now on the wall clock goes on from this instant, counted from 1970, by one microsecond with each
// reading.
void SetWallClock(std::chrono::nanoseconds instant);
// The same, unless it has come further already: a clock does not go back.
void AdvanceWallClock(std::chrono::nanoseconds instant);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_REPEATABLE_H_
