#ifndef DYNAMO_TEST_TRANSFER_CLIENT_H_
#define DYNAMO_TEST_TRANSFER_CLIENT_H_

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "../../main/c++/core/transfers.h"
#include "check.h"

/// What the tests of transfer threads share.
namespace transfers {

using dynamo::Completion;
using dynamo::CopyRange;
using dynamo::RegionTable;
using dynamo::Status;
using dynamo::Transfers;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kSize = 1 << 16;
constexpr uint64_t kSubmitBytes = 256 + 4096;
constexpr uint64_t kDone = 16;

inline uint64_t now() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

/// Plays Java: writes records, kicks when it has to, takes completions.
struct Client {
  RegionTable table;
  alignas(64) std::byte submit[kSubmitBytes] = {};
  alignas(64) std::byte done[256 + 32 * kDone] = {};
  std::unique_ptr<Transfers> transfers;
  uint64_t source = 0;
  uint64_t target = 0;
  uint64_t tail = 0;
  uint64_t taken = 0;
  std::map<uint64_t, Completion> ended;

  explicit Client(dynamo::Mover& mover, uint64_t bytes = kSize) {
    CHECK(table.allocate(bytes, &source) == Status::kOk);
    CHECK(table.allocate(bytes, &target) == Status::kOk);
    CHECK(Transfers::open(table, mover, {submit, sizeof submit, done, sizeof done}, &transfers) ==
          Status::kOk);
  }

  void put(uint64_t offset, uint64_t value) {
    std::memcpy(submit + 256 + (offset & (kSubmitBytes - 256 - 1)), &value, sizeof value);
  }

  void publish(uint64_t length) {
    tail += length;
    __atomic_store_n(reinterpret_cast<uint64_t*>(submit), tail, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(reinterpret_cast<uint64_t*>(submit + 128), __ATOMIC_SEQ_CST) != 0) transfers->kick();
  }

  void header(uint64_t ticket, uint64_t kind, uint64_t from, uint64_t to, uint64_t deadline) {
    const uint64_t words[] = {ticket, kind, from, to, 0, deadline, 0, 0};
    for (uint64_t i = 0; i < 8; i++) put(tail + 8 * i, words[i]);
  }

  void send(uint64_t ticket, const std::vector<CopyRange>& ranges, uint64_t deadline = 0,
            bool onboard = false) {
    constexpr uint64_t kRing = kSubmitBytes - 256;
    uint64_t length = 64 + (ranges.size() * 24 + 63) / 64 * 64;
    uint64_t untilEnd = kRing - (tail & (kRing - 1));
    uint64_t needed = length > untilEnd ? untilEnd + length : length;  // what is skipped has to be free, too
    for (uint64_t until = now() + 30 * kSecond;
         tail + needed - __atomic_load_n(reinterpret_cast<uint64_t*>(submit + 64), __ATOMIC_ACQUIRE) >
         kRing;) {
      CHECK(now() < until);
      std::this_thread::yield();  // the thread takes records at once
    }
    if (length > untilEnd) {
      header(0, 255, 0, 0, 0);
      publish(untilEnd);
    }
    header(ticket, 1 | (onboard ? 1u << 16 : 0u) | uint64_t{ranges.size()} << 32, source, target, deadline);
    for (size_t i = 0; i < ranges.size(); i++) {
      put(tail + 64 + 24 * i, ranges[i].source);
      put(tail + 72 + 24 * i, ranges[i].target);
      put(tail + 80 + 24 * i, ranges[i].length);
    }
    publish(length);
  }

  void take() {
    for (uint64_t all = __atomic_load_n(reinterpret_cast<uint64_t*>(done), __ATOMIC_ACQUIRE); taken != all;) {
      Completion one;
      std::memcpy(&one, done + 256 + (taken & (kDone - 1)) * sizeof one, sizeof one);
      CHECK(ended.emplace(one.ticket, one).second);  // each ends once
      __atomic_store_n(reinterpret_cast<uint64_t*>(done + 64), ++taken, __ATOMIC_RELEASE);
    }
  }

  Completion result(uint64_t ticket) {
    for (uint64_t until = now() + 30 * kSecond; ended.count(ticket) == 0;) {
      CHECK(now() < until);
      CHECK(transfers->await(kSecond) >= 0);
      take();
    }
    return ended.at(ticket);
  }

  Status status(uint64_t ticket) { return static_cast<Status>(result(ticket).status); }

  std::byte* bytes(uint64_t handle) {
    RegionTable::Pin pin;
    CHECK(table.pin(handle, &pin) == Status::kOk);
    return pin.at(0, kSize);
  }
};

}  // namespace transfers

#endif  // DYNAMO_TEST_TRANSFER_CLIENT_H_
