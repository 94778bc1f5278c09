#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "../../main/c++/core/disk_file.h"
#include "../../main/c++/core/disk_io.h"
#include "../../main/c++/core/disk_queue.h"
#include "check.h"
#include "descriptors.h"

using dynamo::DiskFile;
using dynamo::DiskIo;
using dynamo::DiskQueue;
using dynamo::Status;

namespace {

constexpr uint64_t kBytes = 8 << 20;
constexpr uint64_t kSoon = uint64_t{60} * 1'000'000'000;
constexpr DiskFile::Cache kCaches[] = {DiskFile::Cache::kBypassed, DiskFile::Cache::kUsed};

std::string folder() { return std::getenv("TMPDIR") == nullptr ? "/tmp" : std::getenv("TMPDIR"); }

std::unique_ptr<DiskFile> fileOf(DiskFile::Cache cache, uint64_t bytes = kBytes) {
  std::unique_ptr<DiskFile> made;
  int error = -1;
  CHECK(DiskFile::create(folder(), bytes, cache, &made, &error) == Status::kOk && error == 0);
  return made;
}

std::unique_ptr<DiskIo> opened(DiskIo::Way way) {
  std::unique_ptr<DiskIo> io;
  const char* why = nullptr;
  CHECK(DiskIo::open(way, &io, &why) == Status::kOk);
  CHECK(io->way() == way);
  return io;
}

/// Bytes for direct I/O.
class Memory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes) { CHECK(posix_memalign(&at_, 4096, bytes) == 0); }
  ~Memory() { std::free(at_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::byte* at(size_t offset = 0) { return static_cast<std::byte*>(at_) + offset; }
  void fill(unsigned seed) {
    std::mt19937 random(seed);
    for (size_t i = 0; i < bytes_; i++) at()[i] = static_cast<std::byte>(random());
  }

 private:
  size_t bytes_;
  void* at_ = nullptr;
};

std::map<uint64_t, DiskIo::Completion> awaited(DiskIo& io, size_t count) {
  std::map<uint64_t, DiskIo::Completion> ended;
  while (ended.size() < count) {
    auto some = io.await(kSoon);
    CHECK(!some.empty());
    for (const auto& one : some) CHECK(ended.emplace(one.ticket, one).second);  // each ends once
  }
  return ended;
}

DiskIo::Completion only(DiskIo& io, const DiskIo::Request& request) {
  CHECK(io.submit(request) == Status::kOk);
  return awaited(io, 1).begin()->second;
}

void writtenBytesAreReadBack(DiskIo::Way way) {
  for (auto cache : kCaches) {
    auto file = fileOf(cache);
    auto io = opened(way);
    Memory out(kBytes);
    Memory in(kBytes);
    out.fill(1);
    std::memset(in.at(), 0, kBytes);
    auto whole = only(*io, {1, true, file.get(), 0, out.at(), kBytes, 0});
    CHECK(whole.status == Status::kOk && whole.bytes == kBytes);
    constexpr uint64_t kPiece = 64 << 10;
    for (uint64_t i = 0; i < kBytes / kPiece; i++) {
      CHECK(io->submit({i, false, file.get(), i * kPiece, in.at(i * kPiece), kPiece, 0}) == Status::kOk);
    }
    for (const auto& one : awaited(*io, kBytes / kPiece)) {
      CHECK(one.second.status == Status::kOk && one.second.bytes == kPiece);
    }
    CHECK(std::memcmp(out.at(), in.at(), kBytes) == 0);
    auto none = only(*io, {9, false, file.get(), kBytes, in.at(), 0, 0});
    CHECK(none.status == Status::kOk && none.bytes == 0);
  }
}

void invalidTransfersAreRefused(DiskIo::Way way) {
  auto direct = fileOf(DiskFile::Cache::kBypassed);
  auto io = opened(way);
  Memory memory(kBytes);
  constexpr uint64_t kMax = ~uint64_t{0};
  CHECK(io->submit({1, false, direct.get(), kBytes, memory.at(), 4096, 0}) == Status::kRange);
  CHECK(io->submit({1, false, direct.get(), kMax - 4095, memory.at(), 8192, 0}) == Status::kRange);
  CHECK(io->submit({1, false, direct.get(), 0, memory.at(), kMax - 4095, 0}) == Status::kRange);
  if (direct->cache() == DiskFile::Cache::kBypassed) {
    CHECK(direct->offsetAlignment() >= 512 && direct->memoryAlignment() >= 1);
    CHECK(io->submit({1, false, direct.get(), 1, memory.at(), 4096, 0}) == Status::kInvalid);
    CHECK(io->submit({1, false, direct.get(), 0, memory.at(), 4095, 0}) == Status::kInvalid);
  }
  CHECK(io->await(0).empty());
}

/// A file that is shorter than it says gives what there is, and then an error: never a wait.
void aFileThatEndsEarlyIsAnError(DiskIo::Way way) {
  for (auto cache : kCaches) {
    auto file = fileOf(cache);
    auto io = opened(way);
    Memory memory(kBytes);
    CHECK(ftruncate(file->descriptor(), kBytes / 2) == 0);
    auto ended = only(*io, {1, false, file.get(), 0, memory.at(), kBytes, 0});
    CHECK(ended.status == Status::kIo && ended.bytes == kBytes / 2);
    // Not at a multiple of the alignment either.
    CHECK(ftruncate(file->descriptor(), 4096 + 100) == 0);
    ended = only(*io, {2, false, file.get(), 0, memory.at(), kBytes, 0});
    CHECK(ended.status == Status::kIo && ended.bytes <= 4096 + 100);
  }
}

void everyRequestEndsOnceHoweverItIsGivenUp(DiskIo::Way way) {
  Resources before = Resources::now();
  {
    auto file = fileOf(DiskFile::Cache::kBypassed);
    auto io = opened(way);
    Memory memory(kBytes);
    constexpr uint64_t kPart = 2 << 20;
    auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    auto late = only(*io, {1, false, file.get(), 0, memory.at(), kBytes, now - 1});
    CHECK(late.status == Status::kTimeout && late.bytes == 0);
    constexpr uint64_t kCount = 100;  // more than the kernel gets at once
    for (uint64_t i = 0; i < kCount; i++) {
      CHECK(io->submit({i, true, file.get(), 0, memory.at(), kPart, 0}) == Status::kOk);  // of one memory
    }
    CHECK(io->submit({5000, true, file.get(), 0, memory.at(), kPart, 0}) == Status::kOk);
    for (uint64_t i = 1; i < kCount; i += 2) io->cancel(i);
    io->cancel(99999);
    auto ended = awaited(*io, kCount + 1);
    for (const auto& one : ended) {
      bool whole = one.second.bytes == kPart;
      CHECK(one.second.status == (whole ? Status::kOk : Status::kCancelled));
      if (one.first % 2 == 0) CHECK(whole);
    }

    for (uint64_t i = 0; i < kCount; i++) {
      CHECK(io->submit({i, true, file.get(), 0, memory.at(), kPart, 0}) == Status::kOk);
    }
    io->close();
    io->close();
    for (const auto& one : awaited(*io, kCount)) {
      CHECK(one.second.status == Status::kOk || one.second.status == Status::kCancelled);
    }
    CHECK(io->await(kSoon).empty());
    CHECK(io->submit({1, false, file.get(), 0, memory.at(), 4096, 0}) == Status::kStale);
  }
  CHECK(Resources::now() == before);
}

/// Without the wake-up this would wait for an hour.
void closingWakesTheOneWhoAwaits(DiskIo::Way way) {
  auto io = opened(way);
  std::atomic<bool> awaits{false};
  std::thread waiting([&] {
    awaits = true;
    CHECK(io->await(uint64_t{3600} * 1'000'000'000).empty());
  });
  while (!awaits) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until it is likely to sleep
  io->close();
  waiting.join();
}

/// A disk that has not begun anything yet.
class IdleDiskIo final : public DiskQueue {
 public:
  Way way() const override { return Way::kThreads; }
  void close() override {}

 protected:
  void wake() override {}
};

void aQueuedRequestEndsWithoutTheDisk() {
  auto file = fileOf(DiskFile::Cache::kUsed, 4096);
  Memory memory(4096);
  IdleDiskIo io;
  auto request = [&](uint64_t ticket, uint64_t deadline) {
    return DiskIo::Request{ticket, true, file.get(), 0, memory.at(), 4096, deadline};
  };
  auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  CHECK(io.submit(request(1, 0)) == Status::kOk);
  CHECK(io.submit(request(2, 0)) == Status::kOk);
  io.cancel(1);
  auto ended = awaited(io, 1);
  CHECK(ended.at(1).status == Status::kCancelled && ended.at(1).bytes == 0);
  CHECK(io.submit(request(3, now + kSoon * 60)) == Status::kOk);
  std::thread later([&] { CHECK(io.submit(request(4, now + 1)) == Status::kOk); });  // while it awaits
  ended = awaited(io, 1);
  later.join();
  CHECK(ended.at(4).status == Status::kTimeout && ended.at(4).bytes == 0);
  CHECK(io.submit(request(5, now + 1)) == Status::kOk);
  CHECK(awaited(io, 1).at(5).status == Status::kTimeout);
  CHECK(io.await(0).empty());  // 2 and 3 wait on
  io.cancel(3);
  io.cancel(2);
  CHECK(awaited(io, 2).size() == 2);
}

void requestsAreBounded(DiskIo::Way way) {
  auto file = fileOf(DiskFile::Cache::kUsed);
  auto io = opened(way);
  Memory memory(4096);
  uint64_t taken = 0;
  Status status = Status::kOk;
  while (status == Status::kOk && taken <= DiskIo::kMostRequests) {
    status = io->submit({taken, true, file.get(), 0, memory.at(), 4096, 0});
    if (status == Status::kOk) taken++;
  }
  CHECK(status == Status::kBusy && taken == DiskIo::kMostRequests);
  awaited(*io, taken);
  CHECK(only(*io, {1, false, file.get(), 0, memory.at(), 4096, 0}).status == Status::kOk);
}

Status created(const char* where, uint64_t bytes, int* error) {
  std::unique_ptr<DiskFile> made;
  return DiskFile::create(where, bytes, DiskFile::Cache::kUsed, &made, error);
}

void aDiskThatFailsTheCreationSaysWhy() {
  int error = -1;
  CHECK(created(folder().c_str(), 0, &error) == Status::kInvalid && error == 0);
  CHECK(created(folder().c_str(), uint64_t{1} << 62, &error) == Status::kNoMemory && error == ENOSPC);
  CHECK(created("/nowhere/at/all", 4096, &error) == Status::kIo && error == ENOENT);
  CHECK(created("/dev/null", 4096, &error) == Status::kIo && error == ENOTDIR);
  char place[] = "/tmp/dynamo-full-XXXXXX";
  CHECK(mkdtemp(place) != nullptr);
  if (mount("tmpfs", place, "tmpfs", 0, "size=1m") == 0) {
    CHECK(created(place, 2 << 20, &error) == Status::kNoMemory && error == ENOSPC);
    CHECK(created(place, 4096, &error) == Status::kOk);
    CHECK(mount(nullptr, place, nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0);
    CHECK(created(place, 4096, &error) == Status::kIo && error == EROFS);
    CHECK(umount(place) == 0);
  } else {
    std::puts("not tested without the right to mount: a disk that is full, or takes no writes");
  }
  CHECK(rmdir(place) == 0);
}

/// As the default filter of containers does.
void forbidRings(uint32_t error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{4, program};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

void threadsStandInWhereRingsAreForbidden() {
  for (int error : {EPERM, ENOSYS}) {
    std::thread([error] {  // the filter is of this thread
      forbidRings(static_cast<uint32_t>(error));
      std::unique_ptr<DiskIo> io;
      const char* why = nullptr;
      CHECK(DiskIo::open(DiskIo::Way::kRing, &io, &why) == Status::kIo);
      CHECK(DiskIo::open(DiskIo::Way::kBest, &io, &why) == Status::kOk);
      CHECK(io->way() == DiskIo::Way::kThreads);
      CHECK(std::strstr(why, error == EPERM ? "EPERM" : "ENOSYS") != nullptr);
      auto file = fileOf(DiskFile::Cache::kBypassed);
      Memory memory(kBytes);
      CHECK(only(*io, {1, true, file.get(), 0, memory.at(), kBytes, 0}).status == Status::kOk);
    })
        .join();
  }
}

}  // namespace

void diskTests() {
  aDiskThatFailsTheCreationSaysWhy();
  aQueuedRequestEndsWithoutTheDisk();
  std::unique_ptr<DiskIo> best;
  const char* why = nullptr;
  CHECK(DiskIo::open(DiskIo::Way::kBest, &best, &why) == Status::kOk);
  for (auto way : {DiskIo::Way::kRing, DiskIo::Way::kThreads}) {
    if (way == DiskIo::Way::kRing && best->way() != way) {
      std::printf("not tested: %s\n", why);
      continue;
    }
    writtenBytesAreReadBack(way);
    invalidTransfersAreRefused(way);
    aFileThatEndsEarlyIsAnError(way);
    everyRequestEndsOnceHoweverItIsGivenUp(way);
    requestsAreBounded(way);
    closingWakesTheOneWhoAwaits(way);
  }
  if (best->way() == DiskIo::Way::kRing) threadsStandInWhereRingsAreForbidden();
}
