#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>

#include "../../main/c++/backend/fault/fault_mover.h"
#include "../../main/c++/core/disk_space.h"
#include "../../main/c++/core/faults.h"
#include "../../main/c++/core/move.h"
#include "../../main/c++/core/probe.h"
#include "check.h"
#include "descriptors.h"
#include "transfer_client.h"

using dynamo::CopyRange;
using dynamo::DiskFile;
using dynamo::DiskIo;
using dynamo::DiskSpace;
using dynamo::Fault;
using dynamo::FaultMover;
using dynamo::FaultPlan;
using dynamo::FaultyContext;
using dynamo::MemMover;
using dynamo::RegionTable;
using dynamo::Status;
using transfers::Client;
using transfers::kSecond;
using transfers::kSize;
using transfers::now;

namespace {

using Kind = Fault::Kind;

FaultPlan planOf(const std::vector<Fault>& faults) {
  std::vector<int64_t> words;
  for (const auto& fault : faults) {
    words.insert(words.end(),
                 {static_cast<int64_t>(fault.number), static_cast<int64_t>(fault.kind), fault.value});
  }
  FaultPlan plan;
  CHECK(FaultPlan::read(words.data(), words.size(), &plan) == Status::kOk);
  return plan;
}

void plansThatMakeNoSenseAreRefused() {
  constexpr int64_t kHour = int64_t{3600} * 1'000'000'000;
  const std::vector<std::vector<int64_t>> refused = {
      {1},
      {1, 2},
      {0, 2, 0},  // operations are counted from 1
      {1, 0, 0},  // no such kind
      {1, 6, 0},
      {1, 1, -1},          // a delay that has passed
      {1, 1, kHour + 1},   // or never ends
      {1, 2, 1},           // a value that says nothing
      {1, 5, 0},           // a failure that is none
      {1, 5, -15},         // no such status
      {1, 5, 4096},        // no such errno
      {1, 2, 0, 1, 3, 0},  // two of one number
  };
  for (const auto& words : refused) {
    FaultPlan plan;
    CHECK(FaultPlan::read(words.data(), words.size(), &plan) == Status::kInvalid);
    CHECK(plan.isEmpty());
  }
  std::vector<int64_t> many;
  for (size_t i = 0; i <= FaultPlan::kMostFaults; i++) many.insert(many.end(), {int64_t(i) + 1, 2, 0});
  FaultPlan plan;
  CHECK(FaultPlan::read(many.data(), many.size(), &plan) == Status::kInvalid);
  CHECK(FaultPlan::read(many.data(), many.size() - 3, &plan) == Status::kOk);
}

void faultsComeWithTheirOperations() {
  FaultPlan plan = planOf({{3, Kind::kFail, EIO}, {1, Kind::kDrop, 0}});
  CHECK(plan.next()->kind == Kind::kDrop);
  CHECK(plan.next() == nullptr);
  const Fault* third = plan.next();
  CHECK(third->status() == Status::kIo && third->error() == EIO);
  CHECK(plan.next() == nullptr);
  CHECK((Fault{1, Kind::kFail, -5}).status() == Status::kPeerLost);
}

void theProbeNamesContextsWithFaults() {
  CHECK(FaultyContext::count() == 0);
  CHECK(dynamo::probeJson().find("\"fault\":{\"contexts\":0}") != std::string::npos);
  MemMover inner;
  {
    FaultMover mover(inner, planOf({{1, Kind::kDrop, 0}}));
    CHECK(dynamo::probeJson().find("\"fault\":{\"contexts\":1}") != std::string::npos);
  }
  CHECK(FaultyContext::count() == 0);
}

/// Copies with faults between two regions. A shared target is written by one mapping and read by another one,
/// as between processes.
struct FaultyCopies {
  MemMover inner;
  FaultMover mover;
  Client client;
  std::vector<std::byte> data;
  uint64_t lent = 0;

  FaultyCopies(const std::vector<Fault>& faults, bool shared)
      : mover(inner, planOf(faults)), client(mover), data(kSize) {
    if (shared) {
      CHECK(client.table.release(client.target) == Status::kOk);
      CHECK(client.table.allocateShared(kSize, &lent) == Status::kOk);
      dynamo::UniqueFd memory;
      uint64_t bytes = 0;
      CHECK(client.table.shareable(lent, &memory, &bytes) == Status::kOk);
      CHECK(client.table.adopt(std::move(memory), bytes, &client.target) == Status::kOk);
    }
    std::mt19937 random(7);
    for (auto& one : data) one = static_cast<std::byte>(random());
    std::memcpy(client.bytes(client.source), data.data(), kSize);
  }

  /// Sends a batch of two ranges: the whole region.
  void send(uint64_t ticket, uint64_t deadline = 0) {
    client.send(ticket, {{0, 0, kSize / 4}, {kSize / 4, kSize / 4, kSize - kSize / 4}}, deadline);
  }

  std::byte* target() { return client.bytes(lent == 0 ? client.target : lent); }

  bool arrived(uint64_t bytes) {
    const std::byte* target = this->target();
    return std::equal(target, target + bytes, data.begin()) &&
           std::all_of(target + bytes, target + kSize, [](std::byte one) { return one == std::byte{0}; });
  }

  /// Whatever went wrong: the next batch arrives, and nothing keeps a region.
  void endsWell(uint64_t ticket) {
    send(ticket);
    CHECK(client.status(ticket) == Status::kOk && arrived(kSize));
    CHECK(client.table.release(client.source) == Status::kOk);
    CHECK(client.table.release(client.target) == Status::kOk);
    CHECK(lent == 0 || client.table.release(lent) == Status::kOk);
    CHECK(client.table.heldBytes() == 0);
  }
};

void aBatchFailsAsItsFaultSays(bool shared) {
  for (Status status : {Status::kIo, Status::kBackend, Status::kPeerLost, Status::kCorrupt}) {
    FaultyCopies copies({{2, Kind::kFail, static_cast<int64_t>(status)}}, shared);
    copies.client.send(1, {{0, 0, 0}});
    copies.send(2);
    CHECK(copies.client.status(1) == Status::kOk);
    CHECK(copies.client.status(2) == status && copies.client.result(2).bytes == 0);
    CHECK(copies.arrived(0));
    copies.endsWell(3);
  }
}

void aShortBatchFailsWithHalfOfItsBytes(bool shared) {
  FaultyCopies copies({{1, Kind::kShort, 0}}, shared);
  copies.send(1);
  CHECK(copies.client.status(1) == Status::kIo);
  CHECK(copies.arrived(kSize / 2));
  copies.endsWell(2);
}

void aDamagedBatchArrivesWithOneBitInverted(bool shared) {
  FaultyCopies copies({{1, Kind::kCorrupt, 0}}, shared);
  copies.send(1);
  CHECK(copies.client.status(1) == Status::kOk && copies.client.result(1).bytes == kSize);
  const std::byte* target = copies.target();
  CHECK(target[0] == (copies.data[0] ^ std::byte{1}));
  CHECK(std::memcmp(target + 1, copies.data.data() + 1, kSize - 1) == 0);
  copies.endsWell(2);
}

/// Others go on while a batch is lost, and its regions stay until it ends.
void aLostBatchEndsByCancelOrDeadline(bool shared) {
  FaultyCopies copies({{1, Kind::kDrop, 0}, {2, Kind::kDrop, 0}, {4, Kind::kDrop, 0}}, shared);
  Client& client = copies.client;
  client.send(1, {{0, 0, kSize}}, 0, true);  // of the first priority
  client.send(2, {{0, 0, kSize}}, now() + kSecond / 50);
  client.send(3, {{0, 0, 1}});
  CHECK(client.status(3) == Status::kOk);
  CHECK(client.status(2) == Status::kTimeout && client.result(2).bytes == 0);
  CHECK(client.ended.count(1) == 0);
  CHECK(client.transfers->cancel(1) == Status::kOk);
  CHECK(client.status(1) == Status::kCancelled);
  CHECK(copies.arrived(1));

  uint64_t other = 0;
  CHECK(client.table.allocate(kSize, &other) == Status::kOk);
  uint64_t held = client.table.heldBytes();
  std::swap(other, client.target);
  client.send(4, {{0, 0, kSize}});
  std::swap(other, client.target);
  client.send(5, {{0, 0, 1}});  // behind it, so that it has been taken
  CHECK(client.status(5) == Status::kOk);
  CHECK(client.table.release(other) == Status::kOk);
  CHECK(client.table.heldBytes() == held);
  CHECK(client.transfers->cancel(4) == Status::kOk);
  CHECK(client.status(4) == Status::kCancelled);
  CHECK(client.table.heldBytes() == held - kSize);
  copies.endsWell(6);
}

void aLateBatchArrivesUnlessItIsGivenUp(bool shared) {
  constexpr int64_t kHour = int64_t{3600} * 1'000'000'000;
  FaultyCopies copies({{1, Kind::kDelay, 5'000'000}, {2, Kind::kDelay, kHour}, {3, Kind::kDelay, kHour}},
                      shared);
  uint64_t begin = now();
  copies.send(1);
  CHECK(copies.client.status(1) == Status::kOk && now() - begin >= 5'000'000);
  CHECK(copies.arrived(kSize));
  copies.send(2, now() + kSecond / 50);
  copies.send(3);
  CHECK(copies.client.status(2) == Status::kTimeout);
  CHECK(copies.client.transfers->cancel(3) == Status::kOk);
  CHECK(copies.client.status(3) == Status::kCancelled);
  copies.endsWell(4);
}

void closingEndsLostBatches() {
  FaultyCopies copies({{1, Kind::kDrop, 0}, {2, Kind::kDrop, 0}}, false);
  copies.send(1);
  copies.send(2);
  copies.client.transfers->close(kSecond / 100);
  copies.client.take();
  CHECK(copies.client.ended.size() == 2);
  for (const auto& one : copies.client.ended) {
    CHECK(one.second.status == static_cast<int32_t>(Status::kCancelled));
  }
  CHECK(copies.client.table.release(copies.client.source) == Status::kOk);
  CHECK(copies.client.table.release(copies.client.target) == Status::kOk);
  CHECK(copies.client.table.heldBytes() == 0);
}

/// A disk with faults, whose bytes are those of `out` before them.
class FaultyDisk {
 public:
  static constexpr uint64_t kBytes = 2 << 20;

  FaultyDisk(const std::vector<Fault>& faults, DiskIo::Way way, DiskFile::Cache cache) {
    const char* folder = std::getenv("TMPDIR");
    int error = 0;
    CHECK(DiskSpace::open(table, {folder == nullptr ? "/tmp" : folder, kBytes, cache, way, planOf(faults)},
                          &space, &error) == Status::kOk);
    CHECK(table.allocate(kBytes, &out) == Status::kOk);
    CHECK(table.allocate(kBytes, &in) == Status::kOk);
    std::mt19937 random(9);
    for (uint64_t i = 0; i < kBytes; i++) bytes(out)[i] = static_cast<std::byte>(random());
    CHECK(write(1).status == Status::kOk);
  }

  ~FaultyDisk() {
    space.reset();  // with the completions that nobody has taken, and their pins
    CHECK(table.release(out) == Status::kOk && table.release(in) == Status::kOk);
    CHECK(table.heldBytes() == 0);
  }

  void begin(uint64_t ticket, bool write, uint64_t deadline = 0) {
    CHECK(space->submit(ticket, write, {write ? out : in, 0, 0, kBytes}, deadline) == Status::kOk);
  }

  DiskIo::Completion result(uint64_t ticket) {
    for (uint64_t until = now() + 30 * kSecond; ended.count(ticket) == 0;) {
      CHECK(now() < until);
      std::vector<DiskIo::Completion> some;
      CHECK(space->await(kSecond, &some) == Status::kOk);
      for (const auto& one : some) CHECK(ended.emplace(one.ticket, one).second);
    }
    return ended.at(ticket);
  }

  DiskIo::Completion write(uint64_t ticket) {
    begin(ticket, true);
    return result(ticket);
  }

  DiskIo::Completion read(uint64_t ticket) {
    std::memset(bytes(in), 0, kBytes);
    begin(ticket, false);
    return result(ticket);
  }

  std::byte* bytes(uint64_t handle) {
    RegionTable::Pin pin;
    CHECK(table.pin(handle, &pin) == Status::kOk);
    return pin.at(0, kBytes);
  }

  bool holds(uint64_t count) {
    const std::byte* all = bytes(in);
    return std::memcmp(all, bytes(out), count) == 0 &&
           std::all_of(all + count, all + kBytes, [](std::byte one) { return one == std::byte{0}; });
  }

  bool isDamaged() {
    return bytes(in)[0] == (bytes(out)[0] ^ std::byte{1}) &&
           std::memcmp(bytes(in) + 1, bytes(out) + 1, kBytes - 1) == 0;
  }

  RegionTable table;
  std::unique_ptr<DiskSpace> space;
  uint64_t out = 0;
  uint64_t in = 0;
  std::map<uint64_t, DiskIo::Completion> ended;
};

void diskRequestsFailAsTheirFaultsSay(DiskIo::Way way, DiskFile::Cache cache) {
  FaultyDisk disk({{2, Kind::kFail, ENOSPC},
                   {3, Kind::kFail, EIO},
                   {4, Kind::kFail, static_cast<int64_t>(Status::kBackend)},
                   {5, Kind::kShort, 0},
                   {6, Kind::kCorrupt, 0},
                   {8, Kind::kCorrupt, 0},
                   {10, Kind::kShort, 0}},
                  way, cache);
  auto full = disk.write(2);
  CHECK(full.status == Status::kIo && full.error == ENOSPC && full.bytes == 0);
  CHECK(disk.read(3).error == EIO && disk.holds(0));
  CHECK(disk.read(4).status == Status::kBackend && disk.holds(0));
  auto half = disk.read(5);
  CHECK(half.status == Status::kIo && half.bytes == FaultyDisk::kBytes / 2);
  CHECK(disk.holds(FaultyDisk::kBytes / 2));
  CHECK(disk.read(6).status == Status::kOk && disk.isDamaged());
  CHECK(disk.read(7).status == Status::kOk && disk.holds(FaultyDisk::kBytes));
  std::byte first = disk.bytes(disk.out)[0];
  CHECK(disk.write(8).status == Status::kOk && disk.bytes(disk.out)[0] == first);
  CHECK(disk.read(9).status == Status::kOk && disk.isDamaged());
  CHECK(disk.write(10).status == Status::kIo);
  CHECK(disk.read(11).status == Status::kOk && disk.holds(FaultyDisk::kBytes));
}

void lostDiskRequestsEndByCancelDeadlineOrClose(DiskIo::Way way, DiskFile::Cache cache) {
  constexpr int64_t kHour = int64_t{3600} * 1'000'000'000;
  FaultyDisk disk({{2, Kind::kDrop, 0},
                   {3, Kind::kDrop, 0},
                   {4, Kind::kDelay, kHour},
                   {6, Kind::kDelay, 5'000'000},
                   {7, Kind::kDrop, 0},
                   {8, Kind::kDelay, kHour}},
                  way, cache);
  disk.begin(2, false);
  disk.begin(3, false, now() + kSecond / 50);
  disk.begin(4, false);
  CHECK(disk.write(5).status == Status::kOk);  // others go on
  CHECK(disk.result(3).status == Status::kTimeout);
  CHECK(disk.ended.count(2) == 0 && disk.ended.count(4) == 0);
  CHECK(disk.space->submit(2, false, {disk.in, 0, 0, FaultyDisk::kBytes}, 0) == Status::kInvalid);
  disk.space->cancel(2);
  disk.space->cancel(4);
  disk.space->cancel(99);
  CHECK(disk.result(2).status == Status::kCancelled);
  CHECK(disk.result(4).status == Status::kCancelled);
  uint64_t begin = now();
  CHECK(disk.read(6).status == Status::kOk && now() - begin >= 5'000'000);
  CHECK(disk.holds(FaultyDisk::kBytes));
  disk.begin(7, true);
  disk.begin(8, true);
  disk.space->close();
  std::vector<DiskIo::Completion> last;
  CHECK(disk.space->await(kSecond, &last) == Status::kOk && last.size() == 2);
  for (const auto& one : last) CHECK(one.status == Status::kCancelled);
  CHECK(disk.space->await(kSecond, &last) == Status::kStale);
}

void heldDiskRequestsAreBounded() {
  std::vector<Fault> faults;
  for (uint64_t number = 2; number <= FaultPlan::kMostFaults; number++) {
    faults.push_back({number, Kind::kDrop, 0});
  }
  FaultyDisk disk(faults, DiskIo::Way::kThreads, DiskFile::Cache::kUsed);
  uint64_t taken = 0;
  while (disk.space->submit(10 + taken, true, {disk.out, 0, 0, 4096}, 0) == Status::kOk) taken++;
  CHECK(taken == DiskIo::kMostRequests);
  CHECK(disk.space->submit(9, true, {disk.out, 0, 0, 4096}, 0) == Status::kBusy);
}

void everyWayToADiskKeepsTheRules() {
  std::unique_ptr<DiskIo> best;
  const char* why = nullptr;
  CHECK(DiskIo::open(DiskIo::Way::kBest, &best, &why) == Status::kOk);
  bool rings = best->way() == DiskIo::Way::kRing;
  best.reset();
  Resources before = Resources::now();
  for (auto way : {DiskIo::Way::kRing, DiskIo::Way::kThreads}) {
    if (way == DiskIo::Way::kRing && !rings) continue;
    for (auto cache : {DiskFile::Cache::kBypassed, DiskFile::Cache::kUsed}) {
      diskRequestsFailAsTheirFaultsSay(way, cache);
      lostDiskRequestsEndByCancelDeadlineOrClose(way, cache);
    }
  }
  heldDiskRequestsAreBounded();
  CHECK(Resources::now() == before);
  CHECK(FaultyContext::count() == 0);
}

}  // namespace

void faultTests() {
  plansThatMakeNoSenseAreRefused();
  faultsComeWithTheirOperations();
  theProbeNamesContextsWithFaults();
  for (bool shared : {false, true}) {
    aBatchFailsAsItsFaultSays(shared);
    aShortBatchFailsWithHalfOfItsBytes(shared);
    aDamagedBatchArrivesWithOneBitInverted(shared);
    aLostBatchEndsByCancelOrDeadline(shared);
    aLateBatchArrivesUnlessItIsGivenUp(shared);
  }
  closingEndsLostBatches();
  everyWayToADiskKeepsTheRules();
}
