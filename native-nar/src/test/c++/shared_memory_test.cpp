#include "../../main/c++/core/shared_memory.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "../../main/c++/core/copy.h"
#include "../../main/c++/core/regions.h"
#include "check.h"
#include "descriptors.h"

using dynamo::RegionTable;
using dynamo::Status;
using dynamo::UniqueFd;

namespace {

constexpr uint64_t kBytes = 3 * 4096 + 100;

uint64_t shared(RegionTable& table, uint64_t bytes = kBytes) {
  uint64_t handle = 0;
  CHECK(table.allocateShared(bytes, &handle) == Status::kOk);
  return handle;
}

UniqueFd descriptor(RegionTable& table, uint64_t region) {
  UniqueFd memory;
  uint64_t bytes = 0;
  CHECK(table.shareable(region, &memory, &bytes) == Status::kOk);
  CHECK(bytes == kBytes);
  return memory;
}

uint64_t adopted(RegionTable& table, UniqueFd memory) {
  uint64_t handle = 0;
  CHECK(table.adopt(std::move(memory), kBytes, &handle) == Status::kOk);
  return handle;
}

std::byte* bytesOf(RegionTable& table, uint64_t region) {
  RegionTable::Pin pin;
  CHECK(table.pin(region, &pin) == Status::kOk);
  return pin.at(0, pin.size());  // the region is kept by the test
}

void aSharedRegionIsLikeAnyOther() {
  Resources before = Resources::now();
  RegionTable table;
  uint64_t region = shared(table);
  std::byte* base = bytesOf(table, region);
  CHECK(reinterpret_cast<uintptr_t>(base) % RegionTable::kAlignment == 0);
  CHECK(std::all_of(base, base + kBytes, [](std::byte b) { return b == std::byte{0}; }));
  CHECK(table.heldBytes() == kBytes);
  std::byte* view = nullptr;
  CHECK(table.hold(region, &view) == Status::kOk && view == base);
  CHECK(table.release(region) == Status::kOk);
  view[kBytes - 1] = std::byte{1};  // stays while it is held
  CHECK(table.letGo(region) == Status::kOk);
  CHECK(table.heldBytes() == 0);
  CHECK(Resources::now() == before);
  uint64_t handle = 0;
  CHECK(table.allocateShared(0, &handle) == Status::kInvalid);
  CHECK(table.allocateShared(~uint64_t{0}, &handle) == Status::kNoMemory);
  CHECK(table.allocateShared(uint64_t{1} << 62, &handle) == Status::kNoMemory);
  CHECK(Resources::now() == before);
}

void bothMappingsShowTheSameBytes() {
  RegionTable owner;
  RegionTable borrower;
  uint64_t lent = shared(owner);
  uint64_t there = adopted(borrower, descriptor(owner, lent));
  uint64_t source = 0;
  CHECK(borrower.allocate(kBytes, &source) == Status::kOk);
  std::memset(bytesOf(borrower, source), 7, kBytes);
  dynamo::CopyRange whole{0, 0, kBytes};
  CHECK(dynamo::copyRanges(borrower, source, there, &whole, 1) == Status::kOk);
  std::byte* base = bytesOf(owner, lent);
  CHECK(std::all_of(base, base + kBytes, [](std::byte b) { return b == std::byte{7}; }));
  CHECK(owner.release(lent) == Status::kOk);
  CHECK(std::all_of(bytesOf(borrower, there), bytesOf(borrower, there) + kBytes,
                    [](std::byte b) { return b == std::byte{7}; }));  // the pages outlive their owner
}

void nobodyChangesAFrozenRegion() {
  Resources before = Resources::now();
  RegionTable owner;
  RegionTable borrower;
  uint64_t lent = shared(owner);
  std::byte* base = bytesOf(owner, lent);
  UniqueFd late = descriptor(owner, lent);
  uint64_t there = adopted(borrower, descriptor(owner, lent));
  *bytesOf(borrower, there) = std::byte{5};
  CHECK(owner.freeze(lent) == Status::kBusy);  // the borrower could still write
  CHECK(borrower.release(there) == Status::kOk);
  CHECK(owner.freeze(lent) == Status::kOk);
  CHECK(owner.freeze(lent) == Status::kOk);
  CHECK(base[0] == std::byte{5} && base[1] == std::byte{0});
  base[1] = std::byte{6};  // its owner works on as before
  CHECK(bytesOf(owner, lent) == base && base[0] == std::byte{5} && base[1] == std::byte{6});
  uint64_t handle = 0;
  CHECK(borrower.adopt(std::move(late), kBytes, &handle) == Status::kStale);
  UniqueFd none;
  uint64_t bytes = 0;
  CHECK(owner.shareable(lent, &none, &bytes) == Status::kStale);
  CHECK(owner.release(lent) == Status::kOk);
  CHECK(owner.freeze(lent) == Status::kStale);
  CHECK(Resources::now() == before);
}

/// A slot that was frozen serves its next region as if new.
void aReusedSlotIsNotFrozen() {
  RegionTable table;
  uint64_t first = shared(table);
  CHECK(table.freeze(first) == Status::kOk);
  CHECK(table.release(first) == Status::kOk);
  uint64_t second = shared(table);
  CHECK(second >> 40 == first >> 40);
  CHECK(descriptor(table, second).isOpen());
  CHECK(table.release(second) == Status::kOk);
  uint64_t third = 0;
  CHECK(table.allocate(64, &third) == Status::kOk);
  CHECK(table.freeze(third) == Status::kInvalid);
  UniqueFd none;
  uint64_t bytes = 0;
  CHECK(table.shareable(third, &none, &bytes) == Status::kInvalid);
}

UniqueFd plainMemfd(unsigned flags, int seals) {
  UniqueFd made(memfd_create("plain", MFD_CLOEXEC | flags));
  CHECK(ftruncate(made.get(), kBytes) == 0);
  if (seals != 0) CHECK(fcntl(made.get(), F_ADD_SEALS, seals) == 0);
  return made;
}

void unsealedDescriptorsAreRefused() {
  Resources before = Resources::now();
  RegionTable table;
  uint64_t handle = 0;
  // It could be cut short while it is mapped, which is a SIGBUS at the next touch.
  CHECK(table.adopt(plainMemfd(0, 0), kBytes, &handle) == Status::kCorrupt);
  CHECK(table.adopt(plainMemfd(MFD_ALLOW_SEALING, 0), kBytes, &handle) == Status::kCorrupt);
  CHECK(table.adopt(plainMemfd(MFD_ALLOW_SEALING, F_SEAL_GROW), kBytes, &handle) == Status::kCorrupt);
  CHECK(table.adopt(UniqueFd(open("/dev/zero", O_RDWR | O_CLOEXEC)), kBytes, &handle) == Status::kCorrupt);
  CHECK(table.adopt(UniqueFd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), kBytes, &handle) ==
        Status::kCorrupt);
  CHECK(table.adopt(UniqueFd(), kBytes, &handle) == Status::kCorrupt);
  CHECK(table.adopt(plainMemfd(MFD_ALLOW_SEALING, F_SEAL_SHRINK), kBytes - 1, &handle) == Status::kRange);
  CHECK(table.adopt(plainMemfd(MFD_ALLOW_SEALING, F_SEAL_SHRINK), kBytes + 1, &handle) == Status::kRange);
  CHECK(table.adopt(plainMemfd(MFD_ALLOW_SEALING, F_SEAL_SHRINK), 0, &handle) == Status::kInvalid);
  CHECK(table.adopt(plainMemfd(MFD_ALLOW_SEALING, F_SEAL_SHRINK | F_SEAL_WRITE), kBytes, &handle) ==
        Status::kStale);
  uint64_t own = shared(table);
  UniqueFd memory = descriptor(table, own);
  CHECK(ftruncate(memory.get(), 1) != 0 && errno == EPERM);  // nobody shortens ours
  CHECK(table.release(own) == Status::kOk);
  memory = UniqueFd();
  CHECK(table.heldBytes() == 0);
  CHECK(Resources::now() == before);
}

/// Freezing moves nothing: what other threads read and write meanwhile goes on.
void readersGoOnWhileARegionIsFrozen() {
  RegionTable table;
  for (int round = 0; round < 20; round++) {
    uint64_t region = shared(table);
    uint64_t copy = 0;
    CHECK(table.allocate(kBytes, &copy) == Status::kOk);
    std::memset(bytesOf(table, region), round + 1, kBytes);
    std::thread reader([&] {
      dynamo::CopyRange whole{0, 0, kBytes};
      for (int i = 0; i < 50; i++) {
        CHECK(dynamo::copyRanges(table, region, copy, &whole, 1) == Status::kOk);
        std::byte* got = bytesOf(table, copy);
        CHECK(got[0] == static_cast<std::byte>(round + 1) &&
              got[kBytes - 1] == static_cast<std::byte>(round + 1));
      }
    });
    CHECK(table.freeze(region) == Status::kOk);
    reader.join();
    CHECK(table.release(region) == Status::kOk);
    CHECK(table.release(copy) == Status::kOk);
  }
}

/// Lets the kernel refuse a system call of this thread when its argument `index` is `value`.
void refuse(long call, size_t index, uint32_t value) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
               static_cast<uint32_t>(offsetof(seccomp_data, args) + index * sizeof(uint64_t))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{6, program};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

/// As under strict overcommit, where a private view of many pages may be refused.
void aRefusedFreezeLeavesTheBytesInPlace() {
  Resources before = Resources::now();
  {
    RegionTable table;
    struct Refusal {
      long call;
      size_t index;
      uint32_t value;
    };
    for (Refusal one : {Refusal{SYS_mmap, 3, MAP_PRIVATE}, {SYS_mremap, 3, MREMAP_MAYMOVE | MREMAP_FIXED}}) {
      uint64_t region = shared(table);
      std::byte* base = bytesOf(table, region);
      base[7] = std::byte{7};
      std::thread([&] {
        refuse(one.call, one.index, one.value);
        CHECK(table.freeze(region) == Status::kNoMemory);
      }).join();
      CHECK(base[7] == std::byte{7});
      UniqueFd memory = descriptor(table, region);
      std::byte other{8};
      CHECK(pwrite(memory.get(), &other, 1, 7) == 1);
      CHECK(base[7] == other);  // still the shared pages
      CHECK(table.freeze(region) == Status::kOk);
      CHECK(base[7] == other);
      CHECK(table.release(region) == Status::kOk);
    }
  }
  CHECK(Resources::now() == before);
}

}  // namespace

void sharedMemoryTests() {
  aSharedRegionIsLikeAnyOther();
  bothMappingsShowTheSameBytes();
  nobodyChangesAFrozenRegion();
  aReusedSlotIsNotFrozen();
  unsealedDescriptorsAreRefused();
  readersGoOnWhileARegionIsFrozen();
  aRefusedFreezeLeavesTheBytesInPlace();
}
