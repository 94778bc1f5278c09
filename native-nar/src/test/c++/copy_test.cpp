#include "../../main/c++/core/copy.h"

#include <cstring>
#include <random>
#include <vector>

#include "check.h"

using dynamo::CopyRange;
using dynamo::RegionTable;
using dynamo::Status;

namespace {

constexpr uint64_t kSize = 4096;

struct Pair {
  RegionTable table;
  uint64_t source = 0;
  uint64_t target = 0;

  Pair() {
    CHECK(table.allocate(kSize, &source) == Status::kOk);
    CHECK(table.allocate(kSize, &target) == Status::kOk);
    RegionTable::Pin pin;
    CHECK(table.pin(source, &pin) == Status::kOk);
    for (uint64_t i = 0; i < kSize; i++) *pin.at(i, 1) = static_cast<std::byte>(i * 31 + i / 256);
  }

  std::vector<std::byte> bytes(uint64_t handle) {
    RegionTable::Pin pin;
    CHECK(table.pin(handle, &pin) == Status::kOk);
    return {pin.at(0, kSize), pin.at(0, kSize) + kSize};
  }

  Status copy(uint64_t from, uint64_t to, const std::vector<CopyRange>& ranges) {
    return dynamo::copyRanges(table, from, to, ranges.data(), ranges.size());
  }
};

void everyRangeArrives() {
  Pair pair;
  CHECK(pair.copy(pair.source, pair.target, {{0, 100, 10}, {10, 110, 20}, {1000, 0, 50}, {5, 7, 0}}) ==
        Status::kOk);
  auto from = pair.bytes(pair.source);
  std::vector<std::byte> expected(kSize);
  std::memcpy(&expected[100], &from[0], 30);
  std::memcpy(&expected[0], &from[1000], 50);
  CHECK(pair.bytes(pair.target) == expected);
  CHECK(pair.copy(pair.source, pair.target, {}) == Status::kOk);
}

void oneBadRangeCopiesNothing() {
  const uint64_t huge = ~uint64_t{0};
  for (CopyRange bad : {CopyRange{kSize, 0, 1}, CopyRange{0, kSize - 1, 2}, CopyRange{huge, 0, 1},
                        CopyRange{0, 0, huge}, CopyRange{1, huge, huge}, CopyRange{0, kSize + 1, 0}}) {
    Pair pair;
    auto before = pair.bytes(pair.target);
    CHECK(pair.copy(pair.source, pair.target, {{0, 100, 10}, bad}) == Status::kRange);
    CHECK(pair.bytes(pair.target) == before);
  }
}

void anOutcomeThatDependsOnTheOrderIsRefused() {
  Pair pair;
  auto before = pair.bytes(pair.target);
  CHECK(pair.copy(pair.source, pair.target, {{0, 0, 10}, {100, 9, 10}}) == Status::kInvalid);
  CHECK(pair.copy(pair.source, pair.target, {{0, 50, 10}, {100, 0, 51}}) == Status::kInvalid);
  CHECK(pair.bytes(pair.target) == before);
  CHECK(pair.copy(pair.source, pair.source, {{0, 5, 10}}) == Status::kInvalid);
  CHECK(pair.copy(pair.source, pair.source, {{0, 0, 10}}) == Status::kInvalid);
  CHECK(pair.copy(pair.source, pair.source, {{0, 100, 10}, {105, 200, 10}}) == Status::kInvalid);
  CHECK(pair.copy(pair.source, pair.source, {{0, 100, 10}, {0, 200, 10}, {10, 110, 10}}) == Status::kOk);
}

void aStaleRegionIsNotTouched() {
  Pair pair;
  CHECK(pair.table.release(pair.target) == Status::kOk);
  CHECK(pair.copy(pair.source, pair.target, {{0, 0, 1}}) == Status::kStale);
  CHECK(pair.copy(pair.target, pair.source, {{0, 0, 1}}) == Status::kStale);
}

/// Agrees with byte-wise bookkeeping on what is ambiguous and on where every byte ends up.
void agreesWithTheNaiveCopy() {
  int refused = 0;
  for (unsigned seed = 1; seed <= 400; seed++) {
    std::mt19937 random(seed);
    Pair pair;
    bool oneRegion = seed % 2 == 0;
    uint64_t target = oneRegion ? pair.source : pair.target;
    std::vector<CopyRange> ranges;
    for (auto i = random() % 5; i < 6; i++) {
      ranges.push_back({random() % (kSize - 256), random() % (kSize - 256), random() % 256});
    }
    auto from = pair.bytes(pair.source);
    auto expected = pair.bytes(target);
    std::vector<int> written(kSize);
    std::vector<int> read(kSize);
    for (const auto& range : ranges) {
      for (uint64_t i = 0; i < range.length; i++) {
        written[range.target + i]++;
        read[range.source + i]++;
        expected[range.target + i] = from[range.source + i];
      }
    }
    bool ambiguous = false;
    for (uint64_t i = 0; i < kSize; i++) {
      ambiguous |= written[i] > 1 || (oneRegion && written[i] > 0 && read[i] > 0);
    }
    auto before = pair.bytes(target);
    CHECK(pair.copy(pair.source, target, ranges) == (ambiguous ? Status::kInvalid : Status::kOk));
    CHECK(pair.bytes(target) == (ambiguous ? before : expected));
    refused += ambiguous;
  }
  CHECK(refused > 50 && refused < 350);  // both outcomes were tried
}

}  // namespace

void copyTests() {
  everyRangeArrives();
  oneBadRangeCopiesNothing();
  anOutcomeThatDependsOnTheOrderIsRefused();
  aStaleRegionIsNotTouched();
  agreesWithTheNaiveCopy();
}
