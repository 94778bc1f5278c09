#ifndef DYNAMO_CORE_MOVE_H_
#define DYNAMO_CORE_MOVE_H_

#include <cstddef>
#include <vector>

namespace dynamo {

/// A way to copy bytes within this process.
struct MoveWay {
  const char* name;  ///< "avx512", "avx2" or "memcpy"
  void (*copy)(std::byte* target, const std::byte* source, size_t length);
};

/// Every way that this processor has, the best first; the last is memcpy.
const std::vector<MoveWay>& moveWays();

/// From this length on stores pass the cache by, where the processor can.
constexpr size_t kStreamBytes = 64 * 1024;

/// Copies bytes that do not overlap: through the cache when they are few, by the best way when they are many.
void moveBytes(std::byte* target, const std::byte* source, size_t length);

}  // namespace dynamo

#endif  // DYNAMO_CORE_MOVE_H_
