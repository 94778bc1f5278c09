#ifndef DYNAMO_CORE_DISK_FILE_H_
#define DYNAMO_CORE_DISK_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "shared_memory.h"
#include "status.h"

namespace dynamo {

/// Scratch space on a disk: a file without a name, which is gone with its descriptor or its process. All of
/// its blocks are allocated when it is made, so that a full disk fails then and not at a write. Nothing is
/// synced: the bytes are of use to this process only. Immutable.
class DiskFile {
 public:
  enum class Cache { kBypassed, kUsed };

  /// `wanted` is what is tried first: a file system without direct I/O gives a file that uses the cache.
  /// `error` is the errno of a failure, or 0.
  static Status create(const std::string& folder, uint64_t bytes, Cache wanted,
                       std::unique_ptr<DiskFile>* made, int* error);

  int descriptor() const { return file_.get(); }
  uint64_t bytes() const { return bytes_; }
  Cache cache() const { return cache_; }
  /// What offsets and lengths have to be multiples of; 1 where the cache is used.
  uint32_t offsetAlignment() const { return offsetAlignment_; }
  /// What addresses have to be multiples of.
  uint32_t memoryAlignment() const { return memoryAlignment_; }
  /// kRange for a range that leaves the file, kInvalid for one that is not aligned.
  Status check(uint64_t offset, const std::byte* memory, uint64_t bytes) const;

 private:
  DiskFile() = default;
  void askAlignment();

  UniqueFd file_;
  uint64_t bytes_ = 0;
  Cache cache_ = Cache::kUsed;
  uint32_t offsetAlignment_ = 1;
  uint32_t memoryAlignment_ = 1;
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_DISK_FILE_H_
