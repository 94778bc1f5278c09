#include "copy_plan.h"

#include <algorithm>

namespace dynamo::cuda {

Method chooseMethod(Place from, Place to, size_t pieces, uint64_t bytes, Methods there) {
  // Neither a kernel nor a batch may meet pageable memory: the one cannot reach it, the other may read it
  // late.
  if (from == Place::kPageable || to == Place::kPageable) return Method::kSingle;
  uint64_t mean = pieces == 0 ? 0 : bytes / pieces;
  if (pieces <= kFewPieces || mean >= kLargePiece) return Method::kSingle;
  bool within = from == Place::kDevice && to == Place::kDevice;
  bool smallAndMany = pieces >= kManyPieces && mean < kSmallPiece;
  if (there.kernel && (within || smallAndMany)) return Method::kKernel;
  if (there.batch) return Method::kBatch;
  return there.kernel && mean < kSmallPiece ? Method::kKernel : Method::kSingle;
}

uint64_t takePart(const std::vector<CopyRange>& ranges, uint64_t mostBytes, size_t* next, uint64_t* within,
                  std::vector<CopyRange>* part) {
  part->clear();
  uint64_t taken = 0;
  while (*next < ranges.size() && taken < mostBytes && part->size() < kPartPieces) {
    const CopyRange& range = ranges[*next];
    uint64_t length = std::min(range.length - *within, mostBytes - taken);
    part->push_back({range.source + *within, range.target + *within, length});
    taken += length;
    *within += length;
    if (*within == range.length) {
      *within = 0;
      ++*next;
    }
  }
  return taken;
}

void cutChunks(const std::vector<CopyRange>& part, uint64_t source, uint64_t target,
               std::vector<Chunk>* chunks) {
  chunks->clear();
  for (const CopyRange& piece : part) {
    uint64_t at = 0;
    for (; piece.length - at >= 2 * kChunkBytes; at += kChunkBytes) {
      chunks->push_back({source + piece.source + at, target + piece.target + at, kChunkBytes});
    }
    chunks->push_back({source + piece.source + at, target + piece.target + at, piece.length - at});
  }
}

}  // namespace dynamo::cuda
