#ifndef DYNAMO_CORE_PERMUTATION_H_
#define DYNAMO_CORE_PERMUTATION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "copy.h"
#include "regions.h"
#include "status.h"

namespace dynamo {

/// What a block is made of, in two orders of its dimensions: runs of bytes that are contiguous in both,
/// counted by four indices. Dimensions that a block does not have are of size 1.
struct BlockShape {
  uint64_t runBytes;
  uint64_t sizes[4];
  uint64_t sourceStrides[4];  ///< bytes from one index to the next
  uint64_t targetStrides[4];
};

/// The offsets of one block in its two regions.
struct BlockPair {
  uint64_t source;
  uint64_t target;
};

constexpr uint64_t kMostRunsCompared = uint64_t{1} << 20;

/// Checks every byte of a permutation against the regions: kRange when one leaves them, kInvalid when the
/// outcome would depend on the order, or would take more comparisons than are made.
Status checkBlocks(const RegionTable::Pin& from, const RegionTable::Pin& to, bool oneRegion,
                   const BlockShape& shape, const std::vector<BlockPair>& blocks);

/// Writes a permutation out as ranges, a block after the other.
std::vector<CopyRange> rangesOf(const BlockShape& shape, const std::vector<BlockPair>& blocks);

/// Moves blocks from one order into another one, or none, as checkBlocks() decides.
Status permuteBlocks(RegionTable& table, uint64_t source, uint64_t target, const BlockShape& shape,
                     const std::vector<BlockPair>& blocks);

}  // namespace dynamo

#endif  // DYNAMO_CORE_PERMUTATION_H_
