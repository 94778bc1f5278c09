#include "shared_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>

#ifndef MADV_POPULATE_READ  // Linux 5.14
#define MADV_POPULATE_READ 22
#endif

namespace dynamo {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr uint64_t kAllocationPiece = uint64_t{64} << 20;  // a signal undoes no more than this
constexpr int kMostInterruptions = 100;

Status statusOf(int error) {
  switch (error) {
    case ENOMEM:
    case ENOSPC:
    case EFAULT:  // of MADV_POPULATE_READ: no page could be had
      return Status::kNoMemory;
    case EPERM:
      return Status::kStale;  // sealed against writes: its lease is over
    default:
      return Status::kIo;
  }
}

bool fits(uint64_t bytes) { return bytes != 0 && bytes <= static_cast<uint64_t>(LLONG_MAX) / 2; }

Status allocatePages(int fd, uint64_t bytes) {
  int interruptions = 0;
  for (uint64_t at = 0; at < bytes;) {
    uint64_t piece = std::min(kAllocationPiece, bytes - at);
    if (fallocate(fd, 0, static_cast<off_t>(at), static_cast<off_t>(piece)) == 0) {
      at += piece;
    } else if (errno != EINTR || ++interruptions > kMostInterruptions) {
      return errno == EINTR ? Status::kBusy : statusOf(errno);
    }
  }
  return Status::kOk;
}

Status mapShared(int fd, uint64_t bytes, Access access, std::byte** base) {
  int protection = access == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  void* at = mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return statusOf(errno);
  madvise(at, bytes, MADV_DONTFORK);  // a child of this process must not keep it mapped
  madvise(at, bytes, MADV_DONTDUMP);
  if (bytes >= kHugePage) madvise(at, bytes, MADV_HUGEPAGE);  // only advice
  // A page that cannot be had is an error here, and would be a signal at the first touch. Reading maps 16
  // pages at a time, and shared memory is mapped writable by it, too.
  if (madvise(at, bytes, MADV_POPULATE_READ) != 0 && errno != EINVAL) {
    Status status = statusOf(errno);
    munmap(at, bytes);
    return status;
  }
  *base = static_cast<std::byte*>(at);
  return Status::kOk;
}

}  // namespace

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) close(fd_);
}

Status createSharedMemory(uint64_t bytes, UniqueFd* memory) {
  if (!fits(bytes)) return Status::kInvalid;
  UniqueFd made(memfd_create("dynamo-region", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made.isOpen()) return errno == EMFILE || errno == ENFILE ? Status::kBusy : statusOf(errno);
  if (ftruncate(made.get(), static_cast<off_t>(bytes)) != 0) return statusOf(errno);
  Status status = allocatePages(made.get(), bytes);
  if (status != Status::kOk) return status;
  // Sealing against writes stays possible: that is how sealMemory() ends the others' access.
  if (fcntl(made.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) return statusOf(errno);
  *memory = std::move(made);
  return Status::kOk;
}

Status mapOwnMemory(const UniqueFd& memory, uint64_t bytes, std::byte** base) {
  return mapShared(memory.get(), bytes, Access::kWrite, base);
}

Status readOnlyDescriptor(const UniqueFd& memory, UniqueFd* readOnly) {
  std::string path = "/proc/self/fd/" + std::to_string(memory.get());
  UniqueFd opened(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened.isOpen()) return errno == EMFILE || errno == ENFILE ? Status::kBusy : Status::kIo;
  *readOnly = std::move(opened);
  return Status::kOk;
}

Status mapForeignMemory(const UniqueFd& memory, uint64_t bytes, Access access, std::byte** base) {
  if (!fits(bytes)) return Status::kInvalid;
  int seals = fcntl(memory.get(), F_GET_SEALS);
  struct statfs system {};
  struct stat file {};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstatfs(memory.get(), &system) != 0 ||
      system.f_type != TMPFS_MAGIC || fstat(memory.get(), &file) != 0) {  // huge pages may run out
    return Status::kCorrupt;
  }
  if (static_cast<uint64_t>(file.st_size) != bytes) return Status::kRange;
  return mapShared(memory.get(), bytes, access, base);
}

void unmapMemory(std::byte* base, uint64_t bytes) { munmap(base, bytes); }

Status unshareMemory(const UniqueFd& memory, std::byte* base, uint64_t bytes) {
  // The private view is made elsewhere and then moved into place, in one step for whoever reads: a kernel
  // that refuses the first leaves all as it was, where MAP_FIXED may leave a hole (before Linux 6.12). The
  // system call itself: ThreadSanitizer takes mmap() for a write of all bytes.
  auto made = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, memory.get(), 0);
  if (made == -1) return statusOf(errno);
  auto* own = reinterpret_cast<void*>(made);
  if (mremap(own, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, base) == MAP_FAILED) {
    Status status = statusOf(errno);
    munmap(own, bytes);
    // It may have made room first. Shared pages cost no further memory, so that this does not fail likewise.
    syscall(SYS_mmap, base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory.get(), 0);
    madvise(base, bytes, MADV_DONTFORK);
    return status;
  }
  madvise(base, bytes, MADV_DONTDUMP);
  return Status::kOk;
}

Status sealMemory(const UniqueFd& memory) {
  if (fcntl(memory.get(), F_ADD_SEALS, F_SEAL_WRITE) == 0) return Status::kOk;
  return errno == EBUSY ? Status::kBusy : Status::kIo;
}

void prefetchMemory(std::byte* base, uint64_t bytes) { madvise(base, bytes, MADV_POPULATE_READ); }

}  // namespace dynamo
