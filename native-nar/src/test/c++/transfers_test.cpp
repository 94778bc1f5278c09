#include "../../main/c++/core/transfers.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <vector>

#include "check.h"
#include "transfer_client.h"

using dynamo::Completion;
using dynamo::CopyRange;
using dynamo::MemMover;
using dynamo::Mover;
using dynamo::Piece;
using dynamo::RegionTable;
using dynamo::Status;
using dynamo::Transfers;
using transfers::Client;
using transfers::kDone;
using transfers::kSecond;
using transfers::kSize;
using transfers::kSubmitBytes;
using transfers::now;

namespace {

/// Waits at a gate before each piece, and fails the n-th.
class GatedMover final : public Mover {
 public:
  Status move(const Piece& piece) override {
    std::unique_lock<std::mutex> lock(mutex_);
    arrived_++;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_ > 0; });
    if (open_ != kAll) open_--;
    if (arrived_ == failing_) return Status::kIo;
    std::memcpy(piece.target, piece.source, piece.length);
    return Status::kOk;
  }

  void awaitArrival(int pieces) {
    std::unique_lock<std::mutex> lock(mutex_);
    CHECK(changed_.wait_for(lock, std::chrono::seconds(30), [&] { return arrived_ >= pieces; }));
  }

  void let(int pieces) {
    std::lock_guard<std::mutex> lock(mutex_);
    open_ = pieces;
    changed_.notify_all();
  }

  void failAt(int piece) { failing_ = piece; }

  static constexpr int kAll = 1 << 30;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int open_ = 0;
  int failing_ = 0;
};

void batchesArriveWhole() {
  MemMover mover;
  Client client(mover);
  std::mt19937 random(3);
  std::byte* from = client.bytes(client.source);
  for (uint64_t i = 0; i < kSize; i++) from[i] = static_cast<std::byte>(random());
  std::vector<std::byte> expected(kSize);
  for (uint64_t ticket = 1; ticket <= 500; ticket++) {
    std::vector<CopyRange> ranges;
    uint64_t at = random() % 512;
    for (auto count = random() % 40; count > 0 && at < kSize - 600; count--) {
      CopyRange range{random() % (kSize - 600), at, random() % 600};
      std::memcpy(&expected[range.target], from + range.source, range.length);
      at += range.length + random() % 100;
      ranges.push_back(range);
    }
    client.send(ticket, ranges);
    if (ticket % 8 == 0) CHECK(client.status(ticket) == Status::kOk);
  }
  for (uint64_t ticket = 1; ticket <= 500; ticket++) CHECK(client.status(ticket) == Status::kOk);
  CHECK(std::memcmp(client.bytes(client.target), expected.data(), kSize) == 0);
}

void badBatchesEndWithTheirReasonAndMoveNothing() {
  MemMover mover;
  Client client(mover);
  client.bytes(client.source)[0] = std::byte{1};
  client.send(1, {{0, 0, 8}, {kSize, 8, 1}});
  client.send(2, {{0, 0, 8}, {100, 4, 8}});
  client.send(3, {});
  CHECK(client.status(1) == Status::kRange);
  CHECK(client.status(2) == Status::kInvalid);
  CHECK(client.status(3) == Status::kOk);
  CHECK(client.bytes(client.target)[0] == std::byte{0});
  CHECK(client.table.release(client.target) == Status::kOk);
  client.send(4, {{0, 0, 1}});
  CHECK(client.status(4) == Status::kStale);
}

void aBatchThatWaitsAndOneThatRunsCanBeCancelled() {
  GatedMover mover;
  Client client(mover);
  client.send(1, {{0, 0, 10}, {20, 20, 10}});
  client.send(2, {{0, 0, 10}});
  mover.awaitArrival(1);
  CHECK(client.transfers->cancel(2) == Status::kOk);
  CHECK(client.transfers->cancel(77) == Status::kOk);  // nobody's
  mover.let(GatedMover::kAll);
  CHECK(client.status(1) == Status::kOk);
  CHECK(client.status(2) == Status::kCancelled);
}

/// A cancel that comes while the thread looks for work finds its batch, whichever of the two it sees first.
void noCancelIsLost() {
  constexpr uint64_t kBytes = 2 * Transfers::kSliceBytes;
  GatedMover mover;
  Client client(mover, kBytes);
  std::atomic<bool> over{false};
  std::thread restless([&] {
    while (!over) client.transfers->kick();
  });
  for (uint64_t ticket = 1; ticket <= 3000; ticket++) {
    mover.let(0);
    client.send(ticket, {{0, 0, kBytes}});
    CHECK(client.transfers->cancel(ticket) == Status::kOk);
    mover.let(1);  // one slice may have begun before the cancel, a second one not
    CHECK(client.status(ticket) == Status::kCancelled);
  }
  over = true;
  restless.join();
}

/// A cancel is kept for a batch that waits in the ring because nobody takes completions.
void aCancelWaitsForABatchWithoutRoom() {
  MemMover mover;
  Client client(mover);
  for (uint64_t ticket = 1; ticket <= kDone; ticket++) client.send(ticket, {{0, 0, 1}});
  while (client.transfers->counts().completed < kDone) std::this_thread::yield();
  client.send(100, {{0, 0, 1}});
  CHECK(client.transfers->cancel(100) == Status::kOk);
  client.send(101, {{0, 0, 1}});
  CHECK(client.status(101) == Status::kOk);
  CHECK(client.status(100) == Status::kCancelled);
}

void regionsStayUntilNothingTouchesThem() {
  GatedMover mover;
  Client client(mover);
  client.send(1, {{0, 0, 10}});
  mover.awaitArrival(1);
  CHECK(client.table.release(client.target) == Status::kOk);
  CHECK(client.table.release(client.source) == Status::kOk);
  CHECK(client.table.heldBytes() == 2 * kSize);
  mover.let(GatedMover::kAll);
  CHECK(client.status(1) == Status::kOk);
  CHECK(client.table.heldBytes() == 0);
}

void anUrgentBatchOvertakes() {
  GatedMover mover;
  Client client(mover);
  client.send(1, {{0, 0, 10}});
  mover.awaitArrival(1);
  client.send(2, {{0, 0, 10}});
  client.send(3, {{0, 0, 10}}, 0, true);
  mover.let(2);
  CHECK(client.status(3) == Status::kOk);
  CHECK(client.ended.count(2) == 0);
  mover.let(GatedMover::kAll);
  CHECK(client.status(2) == Status::kOk);
}

void deadlinesEndWhatWaits() {
  GatedMover mover;
  Client client(mover);
  client.send(1, {{0, 0, 10}}, now() - kSecond);
  CHECK(client.status(1) == Status::kTimeout);
  client.send(2, {{0, 0, 10}});
  mover.awaitArrival(1);
  client.send(3, {{0, 0, 10}}, now() + 1);
  mover.let(GatedMover::kAll);
  CHECK(client.status(2) == Status::kOk);
  CHECK(client.status(3) == Status::kTimeout);
}

void aFailureEndsItsBatchAlone() {
  GatedMover mover;
  mover.failAt(2);
  mover.let(GatedMover::kAll);
  Client client(mover);
  client.send(1, {{0, 0, 10}, {20, 20, 10}, {40, 40, 10}});
  client.send(2, {{0, 0, 10}});
  CHECK(client.status(1) == Status::kIo);
  CHECK(client.result(1).bytes == 10);
  CHECK(client.status(2) == Status::kOk);
}

void closingDrainsThenCancels() {
  MemMover quick;
  Client drained(quick);
  for (uint64_t i = 1; i <= 8; i++) drained.send(i, {{0, 0, 100}});
  drained.transfers->close(30 * kSecond);
  drained.take();
  CHECK(drained.ended.size() == 8);
  for (const auto& one : drained.ended) CHECK(one.second.status == 0);
  CHECK(drained.transfers->await(kSecond) == static_cast<int64_t>(Status::kStale));
  drained.transfers->close(0);
  CHECK(drained.transfers->cancel(1) == Status::kStale);

  GatedMover gated;
  Client stuck(gated);
  stuck.send(1, {{0, 0, 10}, {20, 20, 10}});
  stuck.send(2, {{0, 0, 10}});
  gated.awaitArrival(1);
  std::thread closing([&] { stuck.transfers->close(0); });
  while (!stuck.transfers->isClosing()) std::this_thread::yield();
  gated.let(GatedMover::kAll);
  closing.join();
  stuck.take();
  CHECK(stuck.ended.size() == 2);
  CHECK(stuck.ended.at(2).status == static_cast<int>(Status::kCancelled));
}

void closingWakesWhoWaits() {
  MemMover mover;
  Client client(mover);
  std::thread waiting(
      [&] { CHECK(client.transfers->await(3600 * kSecond) == static_cast<int64_t>(Status::kStale)); });
  client.transfers->close(0);
  waiting.join();
}

void ringsThatMakeNoSenseAreRefused() {
  RegionTable table;
  MemMover mover;
  alignas(64) std::byte memory[4096];
  std::unique_ptr<Transfers> opened;
  for (uint64_t bytes : {0, 256, 512, 3000, 4096}) {
    CHECK(Transfers::open(table, mover, {memory, bytes, memory, 256 + 32}, &opened) == Status::kInvalid);
  }
  CHECK(Transfers::open(table, mover, {memory, 256 + 1024, memory, 256 + 33}, &opened) == Status::kInvalid);
  CHECK(Transfers::open(table, mover, {memory, 256 + 1024, memory, 256 + 96}, &opened) == Status::kInvalid);
}

void recordsOfAnUnknownFormAreNamed() {
  MemMover mover;
  Client client(mover);
  client.header(5, 9, client.source, client.target, 0);
  client.publish(64);
  CHECK(client.status(5) == Status::kInvalid);
}

/// Whatever stands in the ring, nothing outside of it is read, and the thread can be closed.
void anyBytesInTheRingAreSurvived() {
  for (unsigned seed = 1; seed <= 300; seed++) {
    std::mt19937 random(seed);
    MemMover mover;
    Client client(mover);
    for (uint64_t i = 256; i < kSubmitBytes; i += 8) {
      uint64_t word = random() % 4 == 0 ? uint64_t{random()} << 32 | random() : random() % 8;
      std::memcpy(client.submit + i, &word, sizeof word);
    }
    client.publish(seed % 3 == 0 ? random() : 64 * (random() % 65));
    for (uint64_t until = now() + 30 * kSecond; now() < until;) {
      int64_t there = client.transfers->await(1'000'000);
      if (there == static_cast<int64_t>(Status::kCorrupt)) break;
      client.taken += static_cast<uint64_t>(there);
      __atomic_store_n(reinterpret_cast<uint64_t*>(client.done + 64), client.taken, __ATOMIC_RELEASE);
      if (there == 0 &&
          __atomic_load_n(reinterpret_cast<uint64_t*>(client.submit + 64), __ATOMIC_ACQUIRE) == client.tail)
        break;
    }
    client.transfers->close(0);
  }
}

}  // namespace

void transfersTests() {
  batchesArriveWhole();
  badBatchesEndWithTheirReasonAndMoveNothing();
  aBatchThatWaitsAndOneThatRunsCanBeCancelled();
  noCancelIsLost();
  aCancelWaitsForABatchWithoutRoom();
  regionsStayUntilNothingTouchesThem();
  anUrgentBatchOvertakes();
  deadlinesEndWhatWaits();
  aFailureEndsItsBatchAlone();
  closingDrainsThenCancels();
  closingWakesWhoWaits();
  ringsThatMakeNoSenseAreRefused();
  recordsOfAnUnknownFormAreNamed();
  anyBytesInTheRingAreSurvived();
}
