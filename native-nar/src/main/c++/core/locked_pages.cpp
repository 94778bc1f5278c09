#include "locked_pages.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <limits>

namespace dynamo {
namespace {

std::atomic<uint64_t> lockedBytes{0};
std::atomic<uint64_t> unlockedBytes{0};
std::atomic<int> lastRefusal{0};

uint64_t pageBytes() {
  static const uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Locks all pages or none. Returns 0 or an errno.
int lock(void* at, uint64_t bytes) {
  if (mlock(at, bytes) == 0) return 0;
  int refusal = errno;
  lastRefusal.store(refusal, std::memory_order_relaxed);
  munlock(at, bytes);  // it may have stopped half way
  return refusal;
}

}  // namespace

LockedPages::~LockedPages() {
  if (base_ == nullptr) return;
  munmap(base_, bytes_);  // which unlocks them
  (isLocked() ? lockedBytes : unlockedBytes).fetch_sub(bytes_, std::memory_order_relaxed);
}

Status LockedPages::map(uint64_t bytes, LockedPages* pages) {
  uint64_t page = pageBytes();
  if (bytes == 0) return Status::kInvalid;
  if (bytes > std::numeric_limits<int64_t>::max() - page) return Status::kNoMemory;
  uint64_t whole = (bytes + page - 1) / page * page;
  void* at = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at == MAP_FAILED) return Status::kNoMemory;
  LockedPages made;
  made.base_ = static_cast<std::byte*>(at);
  made.bytes_ = whole;
  made.refusal_ = lock(at, whole);
  (made.isLocked() ? lockedBytes : unlockedBytes).fetch_add(whole, std::memory_order_relaxed);
  *pages = std::move(made);
  return Status::kOk;
}

LockedPages::Facts LockedPages::facts() {
  Facts facts;
  facts.lockedBytes = lockedBytes.load(std::memory_order_relaxed);
  facts.unlockedBytes = unlockedBytes.load(std::memory_order_relaxed);
  facts.refusal = lastRefusal.load(std::memory_order_relaxed);
  rlimit limit{};
  bool isKnown = getrlimit(RLIMIT_MEMLOCK, &limit) == 0;
  facts.limitBytes = !isKnown || limit.rlim_cur == RLIM_INFINITY ? kUnlimited : uint64_t{limit.rlim_cur};
  return facts;
}

}  // namespace dynamo
