#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "cuda_fixtures.h"

using namespace cudatest;

namespace {

constexpr uint64_t kBytes = uint64_t{256} << 20;
constexpr uint64_t kFakeBytes = uint64_t{2} << 20;  // one interprets every instruction
constexpr int kRounds = 20;

/// Gigabytes per second of the middle of several copies.
double rateOf(Bench& bench, uint64_t source, uint64_t target, const std::vector<CopyRange>& ranges) {
  std::vector<uint64_t> nanos;
  uint64_t bytes = 0;
  for (const auto& range : ranges) bytes += range.length;
  int rounds = isReal() ? kRounds : 1;
  for (int round = isReal() ? -3 : 0; round < rounds; round++) {
    uint64_t begin = nowNanos();
    CHECK(bench.copy(source, target, ranges) == Status::kOk);
    if (round >= 0) nanos.push_back(nowNanos() - begin);
  }
  std::sort(nanos.begin(), nanos.end());
  return static_cast<double>(bytes) / static_cast<double>(nanos[nanos.size() / 2]);
}

std::vector<CopyRange> blocksOf(uint64_t bytes, uint64_t block, bool scattered, std::mt19937_64& random) {
  std::vector<uint64_t> order(bytes / block);
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  if (scattered) std::shuffle(order.begin(), order.end(), random);
  std::vector<CopyRange> ranges;
  for (size_t i = 0; i < order.size(); i++) {
    ranges.push_back({(scattered ? 2 : 1) * order[i] * block, i * block, block});
  }
  return ranges;
}

/// The method that most parts of a copy went by since `before`.
const char* methodSince(const DeviceCopies::Counts& before, const DeviceCopies::Counts& now) {
  if (now.kernels > before.kernels) return "kernel";
  return now.batches > before.batches ? "batch" : "single";
}

}  // namespace

void cudaBench() {
  Bench bench;
  uint64_t bytes = isReal() ? kBytes : kFakeBytes;
  std::mt19937_64 random(1);
  uint64_t near = bench.allocate(Place::kDevice, 2 * bytes);
  uint64_t other = bench.allocate(Place::kDevice, bytes);
  uint64_t pinned = bench.allocate(Place::kPinned, 2 * bytes);
  uint64_t back = bench.allocate(Place::kPinned, bytes);
  uint64_t pageable = bench.allocate(Place::kPageable, 2 * bytes);
  const struct {
    const char* name;
    uint64_t source;
    uint64_t target;
  } ways[] = {{"pinned-to-device", pinned, other},
              {"device-to-pinned", near, back},
              {"device-to-device", near, other},
              {"pageable-to-device", pageable, other}};
  std::puts("way,block_bytes,scattered,method,gigabytes_per_second,large_copy_gigabytes_per_second");
  for (const auto& way : ways) {
    double ceiling = rateOf(bench, way.source, way.target, {{0, 0, bytes}});
    for (uint64_t block = 4096; block <= std::min<uint64_t>(bytes, uint64_t{16} << 20); block *= 4) {
      for (bool scattered : {false, true}) {
        auto ranges = blocksOf(bytes, block, scattered, random);
        auto before = bench.copies().counts();
        double rate = rateOf(bench, way.source, way.target, ranges);
        std::printf("%s,%" PRIu64 ",%d,%s,%.2f,%.2f\n", way.name, block, scattered ? 1 : 0,
                    methodSince(before, bench.copies().counts()), rate, ceiling);
      }
    }
  }
}
