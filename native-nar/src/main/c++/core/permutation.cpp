#include "permutation.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace dynamo {
namespace {

constexpr uint64_t kTooFar = ~uint64_t{0};

/// Bytes from the first to past the last of a block; kTooFar when that is beyond 64 bits.
uint64_t extentOf(const BlockShape& shape, const uint64_t (&strides)[4]) {
  uint64_t extent = shape.runBytes;
  for (int i = 0; i < 4; i++) {
    uint64_t step = 0;
    if (__builtin_mul_overflow(shape.sizes[i] - 1, strides[i], &step) ||
        __builtin_add_overflow(extent, step, &extent)) {
      return kTooFar;
    }
  }
  return extent;
}

/// Runs of a block; kTooFar when they are beyond 64 bits.
uint64_t runsOf(const BlockShape& shape) {
  uint64_t runs = 1;
  for (uint64_t size : shape.sizes) {
    if (__builtin_mul_overflow(runs, size, &runs)) return kTooFar;
  }
  return runs;
}

/// Whether the runs of one block certainly do not overlap in its target: each stride passes all that is
/// within.
bool isNested(const BlockShape& shape) {
  std::array<int, 4> order{0, 1, 2, 3};
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return shape.targetStrides[a] < shape.targetStrides[b]; });
  uint64_t extent = shape.runBytes;
  for (int i : order) {
    if (shape.sizes[i] == 1) continue;
    if (shape.targetStrides[i] < extent) return false;
    extent += (shape.sizes[i] - 1) * shape.targetStrides[i];
  }
  return true;
}

/// Whether blocks of so many bytes certainly do not overlap.
bool areApart(std::vector<uint64_t> offsets, uint64_t extent) {
  std::sort(offsets.begin(), offsets.end());
  for (size_t i = 1; i < offsets.size(); i++) {
    if (offsets[i] - offsets[i - 1] < extent) return false;
  }
  return true;
}

template <typename Use>
void eachRun(const BlockShape& shape, Use use) {
  const auto& s = shape.sourceStrides;
  const auto& t = shape.targetStrides;
  for (uint64_t a = 0; a < shape.sizes[0]; a++) {
    for (uint64_t b = 0; b < shape.sizes[1]; b++) {
      for (uint64_t c = 0; c < shape.sizes[2]; c++) {
        uint64_t source = a * s[0] + b * s[1] + c * s[2];
        uint64_t target = a * t[0] + b * t[1] + c * t[2];
        for (uint64_t d = 0; d < shape.sizes[3]; d++) use(source + d * s[3], target + d * t[3]);
      }
    }
  }
}

}  // namespace

Status checkBlocks(const RegionTable::Pin& from, const RegionTable::Pin& to, bool oneRegion,
                   const BlockShape& shape, const std::vector<BlockPair>& blocks) {
  if (shape.runBytes == 0) return Status::kInvalid;
  for (uint64_t size : shape.sizes) {
    if (size == 0) return Status::kInvalid;
  }
  uint64_t sourceExtent = extentOf(shape, shape.sourceStrides);
  uint64_t targetExtent = extentOf(shape, shape.targetStrides);
  if (sourceExtent == kTooFar || targetExtent == kTooFar) return Status::kRange;
  std::vector<uint64_t> targets;
  targets.reserve(blocks.size());
  for (const BlockPair& block : blocks) {
    if (from.at(block.source, sourceExtent) == nullptr || to.at(block.target, targetExtent) == nullptr) {
      return Status::kRange;
    }
    targets.push_back(block.target);
  }
  if (!oneRegion && isNested(shape) && areApart(std::move(targets), targetExtent)) return Status::kOk;
  // Blocks may be interleaved, layer by layer: then every run is compared.
  uint64_t runs = 0;
  if (__builtin_mul_overflow(runsOf(shape), uint64_t{blocks.size()}, &runs) || runs > kMostRunsCompared) {
    return Status::kInvalid;
  }
  auto ranges = rangesOf(shape, blocks);
  return checkRanges(from, to, oneRegion, ranges.data(), ranges.size());
}

std::vector<CopyRange> rangesOf(const BlockShape& shape, const std::vector<BlockPair>& blocks) {
  std::vector<CopyRange> ranges;
  ranges.reserve(runsOf(shape) * blocks.size());
  for (const BlockPair& block : blocks) {
    eachRun(shape, [&](uint64_t source, uint64_t target) {
      ranges.push_back({block.source + source, block.target + target, shape.runBytes});
    });
  }
  return ranges;
}

Status permuteBlocks(RegionTable& table, uint64_t source, uint64_t target, const BlockShape& shape,
                     const std::vector<BlockPair>& blocks) {
  RegionTable::Pin from;
  RegionTable::Pin to;
  Status status = table.pin(source, &from);
  if (status == Status::kOk) status = table.pin(target, &to);
  if (status == Status::kOk) status = checkBlocks(from, to, source == target, shape, blocks);
  if (status != Status::kOk) return status;
  std::byte* read = from.at(0, from.size());
  std::byte* written = to.at(0, to.size());
  for (const BlockPair& block : blocks) {
    eachRun(shape, [&](uint64_t s, uint64_t t) {
      std::memcpy(written + block.target + t, read + block.source + s, shape.runBytes);
    });
  }
  return Status::kOk;
}

}  // namespace dynamo
