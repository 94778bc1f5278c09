#ifndef DYNAMO_CORE_LOCKED_PAGES_H_
#define DYNAMO_CORE_LOCKED_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "status.h"

namespace dynamo {

/// Owns zeroed pages that are all there from the start, and that the kernel keeps in RAM where it may: an
/// unprivileged process has a limit (RLIMIT_MEMLOCK). Pages that it refuses to lock are as usable.
class LockedPages {
 public:
  /// What the process has of such pages now.
  struct Facts {
    uint64_t lockedBytes = 0;
    uint64_t unlockedBytes = 0;  ///< that the kernel refused to lock
    uint64_t limitBytes = 0;     ///< of the process; kUnlimited for none
    int refusal = 0;             ///< the errno of the last refusal, or 0
  };

  static constexpr uint64_t kUnlimited = ~uint64_t{0};

  LockedPages() = default;
  ~LockedPages();
  LockedPages(LockedPages&& other) noexcept { *this = std::move(other); }
  LockedPages& operator=(LockedPages&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    std::swap(refusal_, other.refusal_);
    return *this;
  }

  /// Maps pages for `bytes` bytes. Fails only when there is no memory.
  static Status map(uint64_t bytes, LockedPages* pages);
  static Facts facts();

  std::byte* base() const { return base_; }
  bool isMapped() const { return base_ != nullptr; }
  /// All of them or none is locked.
  bool isLocked() const { return isMapped() && refusal_ == 0; }
  /// The errno by which the kernel refused to lock them, or 0.
  int refusal() const { return refusal_; }

 private:
  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;  // whole pages
  int refusal_ = 0;
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_LOCKED_PAGES_H_
