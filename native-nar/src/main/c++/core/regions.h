#ifndef DYNAMO_CORE_REGIONS_H_
#define DYNAMO_CORE_REGIONS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "locked_pages.h"
#include "shared_memory.h"
#include "status.h"

namespace dynamo {

/// Bytes that somebody other than the region table brought, or something that has to end before a region's
/// bytes are freed. Its destructor runs on the thread that was the region's last, and must not wait for long.
class RegionBacking {
 public:
  virtual ~RegionBacking() = default;
};

/// Memory addressed by handles. A handle is slot (24 bits) | epoch (32 bits) | kind (8 bits), never a
/// pointer: one that is stale or made up is told apart before any memory is touched.
///
/// Safe for concurrent use. An operation pins its regions while it runs. Releasing a region makes its handle
/// stale at once and never waits: the bytes are freed by whoever is last, the release or the last pin. A slot
/// is reused only after its epoch moved, and retired when the epochs are used up.
class RegionTable {
 private:
  struct Slot;

 public:
  static constexpr size_t kAlignment = 64;

  /// The last byte of a handle: regions of one kind are never found in a table of another.
  enum class Kind : uint8_t { kHost = 1, kDevice = 2 };

  static Kind kindOf(uint64_t handle) { return static_cast<Kind>(handle & 0xff); }

  /// The right to touch a region's bytes; they live at least as long as it does.
  class Pin {
   public:
    Pin() = default;
    ~Pin();
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

    /// The address of a range, or null when it leaves the region.
    std::byte* at(uint64_t offset, uint64_t length) const;
    uint64_t size() const;
    /// What was attached to the region or brought its bytes, or null.
    const RegionBacking* backing() const;

   private:
    friend class RegionTable;
    RegionTable* table_ = nullptr;
    Slot* slot_ = nullptr;
  };

  explicit RegionTable(Kind kind = Kind::kHost) : kind_(kind) {}
  ~RegionTable();
  RegionTable(const RegionTable&) = delete;
  RegionTable& operator=(const RegionTable&) = delete;

  /// Zeroed bytes, aligned to a cache line, to a huge page from 2 MiB on.
  Status allocate(uint64_t bytes, uint64_t* handle);
  /// Like allocate(), in memory that other processes can map: see shareable().
  Status allocateShared(uint64_t bytes, uint64_t* handle);
  /// Like allocate(), in pages that the kernel keeps in RAM where it allows that. `refusal` is 0 when it
  /// does, else the errno by which it refused.
  Status allocateLocked(uint64_t bytes, uint64_t* handle, int* refusal);
  /// Makes a region of memory that another process has shared, which has to have `bytes` bytes. With kRead a
  /// write to it ends this process: nothing but the source of a copy may have its handle.
  Status adopt(UniqueFd memory, uint64_t bytes, uint64_t* handle, Access access = Access::kWrite);
  /// Makes a region of bytes that live as long as `backing`, which goes with the region, or at once when
  /// there is no room for it. Those of a device are numbers here, and never touched.
  Status adopt(std::byte* base, uint64_t bytes, std::unique_ptr<RegionBacking> backing, uint64_t* handle);
  /// Adds to a region something that ends before its bytes are freed; kInvalid when it has such a thing.
  Status attach(const Pin& pin, std::unique_ptr<RegionBacking> backing);
  /// A descriptor of a shared region's memory for another process; kInvalid for a region that is not shared,
  /// kStale for one that is frozen.
  Status shareable(uint64_t handle, UniqueFd* memory, uint64_t* bytes, Access access = Access::kWrite);
  /// Ends all writes of other processes into a shared region, whose bytes stay. kBusy while one has it
  /// mapped: then its bytes are not to be trusted, it is lent to nobody any more, and a further call looks
  /// again. Of no effect on a region that is frozen.
  Status freeze(uint64_t handle);
  Status release(uint64_t handle);
  /// Pins a region. `pin` must be empty.
  Status pin(uint64_t handle, Pin* pin);
  /// Pins a region until letGo(), for whoever works on its bytes in place. `base` is where they are.
  Status hold(uint64_t handle, std::byte** base);
  /// Gives one hold() back, also of a region that was released meanwhile. Never more often than it was held:
  /// an operation that runs at the same time would lose its pin.
  Status letGo(uint64_t handle);
  /// Releases every region that is live.
  void releaseAll();
  /// Bytes that are not freed yet, released regions with operations on them included.
  uint64_t heldBytes() const { return heldBytes_.load(std::memory_order_relaxed); }

 private:
  // One word decides everything: epoch (32 bits) | live (1 bit) | users (31 bits).
  static constexpr uint64_t kLive = uint64_t{1} << 31;
  static constexpr uint64_t kUsers = kLive - 1;
  static constexpr uint32_t kChunkSlots = 256;
  static constexpr uint32_t kChunks = 4096;
  static constexpr uint32_t kNoSlot = kChunkSlots * kChunks;

  struct alignas(64) Slot {
    std::atomic<uint64_t> word{uint64_t{1} << 32};
    std::byte* base = nullptr;  // written before the word turns live, read only by pins and the last user
    uint64_t size = 0;
    UniqueFd memory;    // of a shared region
    LockedPages pages;  // of a locked region
    std::atomic<RegionBacking*> backing{nullptr};
    bool adopted = false;   // its bytes are the backing's; set like base
    bool unshared = false;  // guarded by sharing_, like frozen
    bool frozen = false;
    uint32_t index = 0;
    uint32_t nextFree = kNoSlot;
  };

  Slot* find(uint64_t handle) const;
  Slot* takeSlot();
  void giveBack(Slot* slot);
  template <typename Make>
  Status add(uint64_t bytes, uint64_t* handle, Make make);
  bool retire(Slot* slot, uint32_t epoch);
  void unpin(Slot* slot);
  void reclaim(Slot* slot);

  const Kind kind_;
  std::array<std::atomic<Slot*>, kChunks> chunks_{};
  std::atomic<uint64_t> heldBytes_{0};
  std::mutex sharing_;            // before mutex_
  std::mutex mutex_;              // guards the two below
  uint32_t firstFree_ = kNoSlot;  // a list through the slots, so that freeing never allocates
  uint32_t used_ = 0;
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_REGIONS_H_
