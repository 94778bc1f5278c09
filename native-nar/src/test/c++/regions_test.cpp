#include "../../main/c++/core/regions.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "check.h"

using dynamo::RegionTable;
using dynamo::Status;

namespace {

uint64_t allocated(RegionTable& table, uint64_t bytes) {
  uint64_t handle = 0;
  CHECK(table.allocate(bytes, &handle) == Status::kOk);
  CHECK(handle != 0);
  return handle;
}

Status touched(RegionTable& table, uint64_t handle) {
  RegionTable::Pin pin;
  return table.pin(handle, &pin);
}

void aRegionIsZeroedAndAligned() {
  RegionTable table;
  for (uint64_t bytes : {uint64_t{1}, uint64_t{100}, uint64_t{5} << 20}) {
    uint64_t handle = allocated(table, bytes);
    RegionTable::Pin pin;
    CHECK(table.pin(handle, &pin) == Status::kOk);
    CHECK(pin.size() == bytes);
    std::byte* base = pin.at(0, bytes);
    CHECK(reinterpret_cast<uintptr_t>(base) % RegionTable::kAlignment == 0);
    CHECK(std::all_of(base, base + bytes, [](std::byte b) { return b == std::byte{0}; }));
  }
}

void everyRangeIsCheckedWithoutOverflow() {
  RegionTable table;
  RegionTable::Pin pin;
  CHECK(table.pin(allocated(table, 64), &pin) == Status::kOk);
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  CHECK(pin.at(0, 64) != nullptr);
  CHECK(pin.at(64, 0) != nullptr);
  CHECK(pin.at(0, 65) == nullptr);
  CHECK(pin.at(1, 64) == nullptr);
  CHECK(pin.at(65, 0) == nullptr);
  CHECK(pin.at(kMax, 1) == nullptr);
  CHECK(pin.at(1, kMax) == nullptr);
  CHECK(pin.at(kMax, kMax) == nullptr);
}

void bytesThatAreHeldOutliveTheirRegion() {
  RegionTable table;
  uint64_t handle = allocated(table, 100);
  std::byte* base = nullptr;
  CHECK(table.hold(handle, &base) == Status::kOk);
  base[99] = std::byte{7};
  CHECK(table.release(handle) == Status::kOk);
  CHECK(table.hold(handle, &base) == Status::kStale);
  CHECK(base[99] == std::byte{7});
  CHECK(table.heldBytes() == 100);
  CHECK(table.letGo(handle) == Status::kOk);
  CHECK(table.heldBytes() == 0);
  CHECK(table.letGo(handle) == Status::kStale);
  uint64_t next = allocated(table, 100);
  CHECK(table.letGo(handle) == Status::kStale);
  CHECK(table.letGo(next) == Status::kStale);
  CHECK(touched(table, next) == Status::kOk);
}

void impossibleSizesAreRefused() {
  RegionTable table;
  uint64_t handle = 0;
  CHECK(table.allocate(0, &handle) == Status::kInvalid);
  CHECK(table.allocate(std::numeric_limits<uint64_t>::max(), &handle) == Status::kNoMemory);
  CHECK(table.allocate(uint64_t{1} << 62, &handle) == Status::kNoMemory);
  CHECK(table.heldBytes() == 0);
  CHECK(touched(table, allocated(table, 8)) == Status::kOk);
}

void aReleasedOrMadeUpHandleIsStale() {
  RegionTable table;
  uint64_t first = allocated(table, 8);
  CHECK(table.release(first) == Status::kOk);
  CHECK(touched(table, first) == Status::kStale);
  CHECK(table.release(first) == Status::kStale);
  uint64_t second = allocated(table, 8);
  CHECK(first >> 40 == second >> 40);  // the slot is used again, under another epoch
  CHECK(first != second);
  CHECK(touched(table, first) == Status::kStale);
  for (uint64_t bogus : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, second ^ 2, second + (uint64_t{1} << 40)}) {
    CHECK(touched(table, bogus) == Status::kStale);
    CHECK(table.release(bogus) == Status::kStale);
  }
  CHECK(touched(table, second) == Status::kOk);
}

void theLastPinFreesAReleasedRegion() {
  RegionTable table;
  uint64_t handle = allocated(table, 4096);
  {
    RegionTable::Pin pin;
    CHECK(table.pin(handle, &pin) == Status::kOk);
    CHECK(table.release(handle) == Status::kOk);
    CHECK(touched(table, handle) == Status::kStale);
    std::memset(pin.at(0, 4096), 1, 4096);  // still there: a sanitizer would tell
    CHECK(table.heldBytes() == 4096);
    CHECK(allocated(table, 8) >> 40 != handle >> 40);  // its slot is not free yet
  }
  CHECK(table.heldBytes() == 8);
}

void releaseAllLeavesNothing() {
  RegionTable table;
  for (int i = 0; i < 1000; i++) allocated(table, 16);
  CHECK(table.heldBytes() == 16000);
  table.releaseAll();
  CHECK(table.heldBytes() == 0);
}

/// Threads release, allocate and touch the same handles. A region holds its own handle, so whoever pins it
/// can tell whether it got another one's bytes.
void handlesStayTrueUnderThreads() {
  constexpr int kThreads = 8;
  constexpr int kRounds = 20000;
  RegionTable table;
  std::vector<std::atomic<uint64_t>> handles(4);
  std::atomic<uint64_t> pinned{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; i++) {
        auto& shared = handles[static_cast<size_t>((i + t) % 4)];
        if (i % 8 == 0) {
          uint64_t fresh = allocated(table, 64);
          {
            RegionTable::Pin pin;
            CHECK(table.pin(fresh, &pin) == Status::kOk);
            std::memcpy(pin.at(0, 8), &fresh, 8);
          }
          uint64_t old = shared.exchange(fresh);
          if (old != 0) CHECK(table.release(old) == Status::kOk);
        } else if (uint64_t seen = shared.load(); seen != 0) {
          RegionTable::Pin pin;
          Status status = table.pin(seen, &pin);
          CHECK(status == Status::kOk || status == Status::kStale);
          if (status != Status::kOk) continue;
          uint64_t held;
          std::memcpy(&held, pin.at(0, 8), 8);
          CHECK(held == seen);
          pinned.fetch_add(1);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(pinned.load() > 0);
  CHECK(table.heldBytes() == 4 * 64);
}

}  // namespace

void regionTests() {
  aRegionIsZeroedAndAligned();
  everyRangeIsCheckedWithoutOverflow();
  bytesThatAreHeldOutliveTheirRegion();
  impossibleSizesAreRefused();
  aReleasedOrMadeUpHandleIsStale();
  theLastPinFreesAReleasedRegion();
  releaseAllLeavesNothing();
  handlesStayTrueUnderThreads();
}
