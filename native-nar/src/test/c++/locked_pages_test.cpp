#include "../../main/c++/core/locked_pages.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "../../main/c++/core/probe.h"
#include "../../main/c++/core/regions.h"
#include "check.h"

using dynamo::LockedPages;
using dynamo::RegionTable;
using dynamo::Status;

namespace {

constexpr uint64_t kBytes = uint64_t{1} << 20;
constexpr uint64_t kLimit = uint64_t{64} << 10;
constexpr unsigned kNobody = 65534;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMlockLocks = false;  // the sanitizers' mlock succeeds and locks nothing
#else
constexpr bool kMlockLocks = true;
#endif

/// What the kernel says that this process has locked.
uint64_t lockedKilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmLck:", 0) == 0) return std::strtoull(line.c_str() + std::strlen("VmLck:"), nullptr, 10);
  }
  CHECK(false && "no VmLck");
  return 0;
}

bool isMapped(const std::byte* at) {
  std::ifstream maps("/proc/self/maps");
  auto address = reinterpret_cast<uintptr_t>(at);
  for (std::string line; std::getline(maps, line);) {
    unsigned long from = 0;
    unsigned long to = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &from, &to) == 2 && address >= from && address < to) return true;
  }
  return false;
}

bool probeSays(const std::string& part) { return dynamo::probeJson().find(part) != std::string::npos; }

/// Locks nothing where the process may not.
bool mayLock() {
  LockedPages pages;
  return LockedPages::map(kBytes, &pages) == Status::kOk && pages.isLocked();
}

void lockedPagesAreZeroedAndComeBackOnce() {
  uint64_t before = lockedKilobytes();
  RegionTable table;
  uint64_t handle = 0;
  int refusal = -1;
  CHECK(table.allocateLocked(kBytes + 1, &handle, &refusal) == Status::kOk);
  CHECK(table.heldBytes() == kBytes + 1);
  std::byte* base = nullptr;
  CHECK(table.hold(handle, &base) == Status::kOk);
  CHECK(reinterpret_cast<uintptr_t>(base) % 4096 == 0);
  CHECK(std::all_of(base, base + kBytes + 1, [](std::byte b) { return b == std::byte{0}; }));
  if (refusal == 0) {
    CHECK(lockedKilobytes() == before + (kMlockLocks ? kBytes / 1024 + 4 : 0));
    CHECK(probeSays("\"pinned_soft\":{\"present\":true,\"locked_bytes\":" + std::to_string(kBytes + 4096)));
  }
  CHECK(table.release(handle) == Status::kOk);
  CHECK(table.release(handle) == Status::kStale);
  base[kBytes] = std::byte{1};  // held still
  CHECK(table.letGo(handle) == Status::kOk);
  CHECK(table.letGo(handle) == Status::kStale);
  CHECK(lockedKilobytes() == before);
  CHECK(!isMapped(base));
  CHECK(table.heldBytes() == 0);
  CHECK(LockedPages::facts().lockedBytes == 0);
  CHECK(table.allocateLocked(0, &handle, &refusal) == Status::kInvalid);
  CHECK(table.allocateLocked(~uint64_t{0}, &handle, &refusal) == Status::kNoMemory);
}

void aSlotThatHeldLockedPagesTakesOthers() {
  RegionTable table;
  for (int round = 0; round < 100; round++) {
    uint64_t handle = 0;
    int refusal = 0;
    CHECK((round % 2 == 0 ? table.allocateLocked(4096, &handle, &refusal) : table.allocate(4096, &handle)) ==
          Status::kOk);
    CHECK(table.release(handle) == Status::kOk);
  }
  CHECK(LockedPages::facts().lockedBytes == 0 && LockedPages::facts().unlockedBytes == 0);
}

/// Runs in a child process, that it may give up what it may.
void withALimit(uint64_t limit) {
  rlimit both{limit, limit};
  CHECK(setrlimit(RLIMIT_MEMLOCK, &both) == 0);
  if (geteuid() == 0) CHECK(setgid(kNobody) == 0 && setuid(kNobody) == 0);  // the limit is none of root's
  uint64_t before = lockedKilobytes();
  LockedPages refused;
  CHECK(LockedPages::map(kBytes, &refused) == Status::kOk);
  CHECK(!refused.isLocked() && refused.refusal() != 0);
  CHECK(lockedKilobytes() == before);
  std::memset(refused.base(), 7, kBytes);
  CHECK(refused.base()[kBytes - 1] == std::byte{7});
  LockedPages::Facts facts = LockedPages::facts();
  CHECK(facts.limitBytes == limit && facts.lockedBytes == 0 && facts.unlockedBytes == kBytes);
  CHECK(facts.refusal == refused.refusal());
  CHECK(probeSays("\"unlocked_bytes\":1048576,\"limit_bytes\":" + std::to_string(limit) +
                  ",\"reason\":\"mlock: errno "));
  LockedPages within;
  CHECK(LockedPages::map(4096, &within) == Status::kOk);
  CHECK(within.isLocked() == (limit != 0));
  CHECK(probeSays(limit != 0 ? "\"pinned_soft\":{\"present\":true" : "\"pinned_soft\":{\"present\":false"));
  CHECK(lockedKilobytes() == before + (limit != 0 ? 4 : 0));
  within = LockedPages();
  refused = LockedPages();
  facts = LockedPages::facts();
  CHECK(lockedKilobytes() == before && facts.lockedBytes == 0 && facts.unlockedBytes == 0);
}

void pagesAboveTheLimitAreUsableAndNotLocked() {
  for (uint64_t limit : {kLimit, uint64_t{0}}) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(60);
      withALimit(limit);
      _exit(0);
    }
    int ended = -1;
    CHECK(waitpid(child, &ended, 0) == child);
    CHECK(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  }
}

}  // namespace

void lockedPagesTests() {
  if (!mayLock()) std::puts("memory cannot be locked here: that locked pages are is not tested");
  lockedPagesAreZeroedAndComeBackOnce();
  aSlotThatHeldLockedPagesTakesOthers();
  if (kMlockLocks) pagesAboveTheLimitAreUsableAndNotLocked();
}
