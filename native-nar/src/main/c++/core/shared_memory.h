#ifndef DYNAMO_CORE_SHARED_MEMORY_H_
#define DYNAMO_CORE_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "status.h"

namespace dynamo {

/// Owns a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd();
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  bool isOpen() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// What another process does with shared memory.
enum class Access : uint32_t { kWrite = 0, kRead = 1 };

/// Zeroed memory that other processes can map: a memfd whose size is sealed, so that no process can take
/// pages away below another one's mapping. All of its pages are there when this returns.
Status createSharedMemory(uint64_t bytes, UniqueFd* memory);

/// A descriptor of the same memory that maps it for nothing but reading. The user's other processes can open
/// it anew: it guards against mistakes, not against them.
Status readOnlyDescriptor(const UniqueFd& memory, UniqueFd* readOnly);

/// Maps memory that another process created, not writable for kRead. Refuses what could end this process
/// later: a descriptor that is no sealed memfd (kCorrupt), one of another size (kRange), one that takes no
/// writes any more (kStale).
Status mapForeignMemory(const UniqueFd& memory, uint64_t bytes, Access access, std::byte** base);

/// Maps memory of createSharedMemory().
Status mapOwnMemory(const UniqueFd& memory, uint64_t bytes, std::byte** base);

void unmapMemory(std::byte* base, uint64_t bytes);

/// Lets go of shared memory without moving it: the same pages stay at `base`, a view of them stays valid, and
/// what is written there from now on is this process's own copy. A failure leaves them shared.
Status unshareMemory(const UniqueFd& memory, std::byte* base, uint64_t bytes);

/// Ends all writes into shared memory for good. The kernel allows that when nobody has it mapped for writing,
/// this process included; kBusy until then: what it holds may still change.
Status sealMemory(const UniqueFd& memory);

/// Maps pages that are there before they are touched; only advice.
void prefetchMemory(std::byte* base, uint64_t bytes);

}  // namespace dynamo

#endif  // DYNAMO_CORE_SHARED_MEMORY_H_
