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

/// Zeroed memory that other processes can map: a memfd whose size is sealed, so that no process can take
/// pages away below another one's mapping. All of its pages are there when this returns.
Status createSharedMemory(uint64_t bytes, UniqueFd* memory);

/// Maps memory that another process created. Refuses what could end this process later: a descriptor that is
/// no sealed memfd (kCorrupt), one of another size (kRange), one that takes no writes any more (kStale).
Status mapForeignMemory(const UniqueFd& memory, uint64_t bytes, std::byte** base);

/// Maps memory of createSharedMemory().
Status mapOwnMemory(const UniqueFd& memory, uint64_t bytes, std::byte** base);

void unmapMemory(std::byte* base, uint64_t bytes);

/// Makes the bytes at `base` private to this process: afterwards no process can change them. kBusy while
/// another process has them mapped; then nothing is promised about them.
Status freezeMemory(const UniqueFd& memory, std::byte* base, uint64_t bytes);

}  // namespace dynamo

#endif  // DYNAMO_CORE_SHARED_MEMORY_H_
