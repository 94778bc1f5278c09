#ifndef DYNAMO_CORE_CLOCK_H_
#define DYNAMO_CORE_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace dynamo {

/// The clock of System.nanoTime() on Linux, so that deadlines cross over as they are.
inline uint64_t nowNanos() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace dynamo

#endif  // DYNAMO_CORE_CLOCK_H_
