#ifndef DYNAMO_TEST_FAKE_CUDA_FAKE_MEMORY_H_
#define DYNAMO_TEST_FAKE_CUDA_FAKE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "ptx.h"

namespace fakecuda {

/// What the fake knows of an address.
enum class Where { kDevice, kPinned, kPageable, kOutside };

/// The memory of the fake GPU, and host memory that it reaches. Addresses of the device are reserved and not
/// readable: code that uses one as a pointer dies at once. Host memory has another address on the device, so
/// that a mix-up of the two is found, too. Safe for concurrent use.
class FakeMemory final : public Memory {
 public:
  /// @return 0 when there is no memory
  uint64_t allocate(size_t bytes);
  /// @return the bytes' number, or 0 for an address that is not the first of an allocation
  size_t release(uint64_t device);
  void* allocateHost(size_t bytes);
  bool releaseHost(void* host);
  bool registerHost(void* host, size_t bytes);
  bool unregisterHost(void* host);
  uint64_t mapped(void* host);
  bool rangeOf(uint64_t device, uint64_t* base, size_t* bytes);

  /// Names an allocation for other processes.
  bool exported(uint64_t device, unsigned char (&handle)[64]);
  uint64_t import(const unsigned char (&handle)[64], bool ownToo, bool* isOwn);
  bool closeImport(uint64_t device);

  /// For kernels: addresses of the device only.
  std::byte* at(uint64_t address, size_t bytes) override;
  /// The allocation that holds an address of the device, where its bytes are, and how many.
  bool find(uint64_t address, uint64_t* device, std::byte** memory, size_t* bytes);
  /// For copies: any address. Null for one that begins in known memory and leaves it.
  std::byte* resolve(uint64_t address, size_t bytes, Where* where);

  size_t live();
  /// Frees what the end of its context frees.
  void end();

 private:
  enum class Kind { kDevice, kHost, kRegistered, kImported };
  struct Allocation {
    Kind kind;
    size_t bytes;
    uint64_t device;    // reserved addresses
    std::byte* memory;  // the bytes
    int fd;
  };

  uint64_t add(Kind kind, size_t bytes, std::byte* memory, int fd);
  bool remove(uint64_t device, Kind kind, size_t* bytes);
  Allocation* holding(uint64_t address);

  std::mutex mutex_;
  std::map<uint64_t, Allocation> byDevice_;
  std::map<uint64_t, uint64_t> byHost_;  // pinned host address → device address
};

/// The memory as one launch sees it: what it has found once stays, since frees wait for the launch.
class LaunchMemory final : public Memory {
 public:
  explicit LaunchMemory(FakeMemory& memory) : memory_(memory) {}

  std::byte* at(uint64_t address, size_t bytes) override {
    for (const auto& [device, there, size] : found_) {
      if (address - device < size && bytes <= size - (address - device)) return there + (address - device);
    }
    Found one;
    if (!memory_.find(address, &one.device, &one.memory, &one.bytes)) return nullptr;
    found_[next_++ % 4] = one;
    uint64_t offset = address - one.device;
    return bytes > one.bytes - offset ? nullptr : one.memory + offset;
  }

 private:
  struct Found {
    uint64_t device = 0;
    std::byte* memory = nullptr;
    size_t bytes = 0;
  };

  FakeMemory& memory_;
  Found found_[4];
  size_t next_ = 0;
};

}  // namespace fakecuda

#endif  // DYNAMO_TEST_FAKE_CUDA_FAKE_MEMORY_H_
