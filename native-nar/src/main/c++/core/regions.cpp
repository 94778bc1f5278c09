#include "regions.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace dynamo {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;

uint32_t epochOf(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

uint64_t physicalBytes() {
  static const uint64_t bytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Every page is touched here: what the machine cannot back fails now and not at the first block.
std::byte* allocateZeroed(uint64_t bytes) {
  bool huge = bytes >= kHugePage;
  void* base = nullptr;
  if (posix_memalign(&base, huge ? kHugePage : RegionTable::kAlignment, bytes) != 0) return nullptr;
  if (huge) madvise(base, bytes, MADV_HUGEPAGE);  // fewer TLB misses where allowed; only advice
  std::memset(base, 0, bytes);
  return static_cast<std::byte*>(base);
}

}  // namespace

RegionTable::Pin::~Pin() {
  if (slot_ != nullptr) table_->unpin(slot_);
}

std::byte* RegionTable::Pin::at(uint64_t offset, uint64_t length) const {
  if (offset > slot_->size || length > slot_->size - offset) return nullptr;
  return slot_->base + offset;
}

uint64_t RegionTable::Pin::size() const { return slot_->size; }

const RegionBacking* RegionTable::Pin::backing() const {
  return slot_->backing.load(std::memory_order_acquire);
}

RegionTable::~RegionTable() {
  releaseAll();
  for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

/// Adds a region whose bytes `make(slot)` brings.
template <typename Make>
Status RegionTable::add(uint64_t bytes, uint64_t* handle, Make make) {
  if (bytes == 0) return Status::kInvalid;
  // Reserved before it is touched: an overcommitting kernel would grant it and kill the process later.
  uint64_t most = kind_ == Kind::kHost ? physicalBytes() : ~uint64_t{0};
  uint64_t held = heldBytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > most || held > most - bytes) return Status::kNoMemory;
  } while (!heldBytes_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));

  Slot* slot = takeSlot();
  Status status = slot == nullptr ? Status::kNoMemory : make(slot);
  if (status != Status::kOk) {
    heldBytes_.fetch_sub(bytes, std::memory_order_relaxed);
    if (slot != nullptr) giveBack(slot);
    return status;
  }
  slot->size = bytes;
  uint32_t epoch = epochOf(slot->word.load(std::memory_order_relaxed));
  *handle = uint64_t{slot->index} << 40 | uint64_t{epoch} << 8 | static_cast<uint64_t>(kind_);
  slot->word.store(uint64_t{epoch} << 32 | kLive, std::memory_order_release);
  return Status::kOk;
}

Status RegionTable::allocate(uint64_t bytes, uint64_t* handle) {
  return add(bytes, handle, [bytes](Slot* slot) {
    slot->base = allocateZeroed(bytes);
    return slot->base == nullptr ? Status::kNoMemory : Status::kOk;
  });
}

Status RegionTable::allocateShared(uint64_t bytes, uint64_t* handle) {
  return add(bytes, handle, [bytes](Slot* slot) {
    UniqueFd memory;
    Status status = createSharedMemory(bytes, &memory);
    if (status == Status::kOk) status = mapOwnMemory(memory, bytes, &slot->base);
    if (status == Status::kOk) slot->memory = std::move(memory);
    return status;
  });
}

Status RegionTable::allocateLocked(uint64_t bytes, uint64_t* handle, int* refusal) {
  return add(bytes, handle, [bytes, refusal](Slot* slot) {
    Status status = LockedPages::map(bytes, &slot->pages);
    if (status != Status::kOk) return status;
    slot->base = slot->pages.base();
    *refusal = slot->pages.refusal();
    return Status::kOk;
  });
}

Status RegionTable::adopt(UniqueFd memory, uint64_t bytes, uint64_t* handle, Access access) {
  return add(bytes, handle, [&memory, bytes, access](Slot* slot) {
    Status status = mapForeignMemory(memory, bytes, access, &slot->base);
    if (status != Status::kOk) return status;
    slot->memory = std::move(memory);
    slot->frozen = true;  // another process's memory is not passed on
    return Status::kOk;
  });
}

Status RegionTable::adopt(std::byte* base, uint64_t bytes, std::unique_ptr<RegionBacking> backing,
                          uint64_t* handle) {
  return add(bytes, handle, [base, &backing](Slot* slot) {
    slot->base = base;
    slot->adopted = true;
    slot->backing.store(backing.release(), std::memory_order_release);
    return Status::kOk;
  });
}

Status RegionTable::attach(const Pin& pin, std::unique_ptr<RegionBacking> backing) {
  RegionBacking* none = nullptr;
  if (!pin.slot_->backing.compare_exchange_strong(none, backing.get(), std::memory_order_acq_rel)) {
    return Status::kInvalid;
  }
  backing.release();
  return Status::kOk;
}

Status RegionTable::shareable(uint64_t handle, UniqueFd* memory, uint64_t* bytes, Access access) {
  Pin pin;
  Status status = this->pin(handle, &pin);
  if (status != Status::kOk) return status;
  Slot* slot = pin.slot_;
  if (!slot->memory.isOpen()) return Status::kInvalid;
  std::lock_guard<std::mutex> lock(sharing_);
  if (slot->frozen || slot->unshared) return Status::kStale;
  *bytes = slot->size;
  if (access == Access::kRead) return readOnlyDescriptor(slot->memory, memory);
  UniqueFd copy(fcntl(slot->memory.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.isOpen()) return Status::kBusy;
  *memory = std::move(copy);
  return Status::kOk;
}

Status RegionTable::freeze(uint64_t handle) {
  Pin pin;
  Status status = this->pin(handle, &pin);
  if (status != Status::kOk) return status;
  Slot* slot = pin.slot_;
  if (!slot->memory.isOpen()) return Status::kInvalid;
  std::lock_guard<std::mutex> lock(sharing_);
  if (slot->frozen) return Status::kOk;
  if (!slot->unshared) {
    status = unshareMemory(slot->memory, slot->base, slot->size);
    if (status != Status::kOk) return status;
    slot->unshared = true;
  }
  status = sealMemory(slot->memory);
  if (status != Status::kOk) return status;
  slot->frozen = true;
  prefetchMemory(slot->base, slot->size);
  return Status::kOk;
}

Status RegionTable::release(uint64_t handle) {
  Slot* slot = find(handle);
  return slot != nullptr && retire(slot, static_cast<uint32_t>(handle >> 8)) ? Status::kOk : Status::kStale;
}

Status RegionTable::pin(uint64_t handle, Pin* pin) {
  Slot* slot = find(handle);
  if (slot == nullptr || pin->slot_ != nullptr) return slot == nullptr ? Status::kStale : Status::kInvalid;
  uint32_t epoch = static_cast<uint32_t>(handle >> 8);
  uint64_t word = slot->word.load(std::memory_order_relaxed);
  do {
    if (epochOf(word) != epoch || (word & kLive) == 0) return Status::kStale;
    if ((word & kUsers) == kUsers) return Status::kBusy;
  } while (!slot->word.compare_exchange_weak(word, word + 1, std::memory_order_acquire,
                                             std::memory_order_relaxed));
  pin->table_ = this;
  pin->slot_ = slot;
  return Status::kOk;
}

void RegionTable::unpin(Slot* slot) {
  uint64_t before = slot->word.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & (kLive | kUsers)) == 1) reclaim(slot);
}

Status RegionTable::hold(uint64_t handle, std::byte** base) {
  Pin pin;
  Status status = this->pin(handle, &pin);
  if (status != Status::kOk) return status;
  *base = pin.slot_->base;
  pin.slot_ = nullptr;  // stays pinned
  return Status::kOk;
}

Status RegionTable::letGo(uint64_t handle) {
  Slot* slot = find(handle);
  if (slot == nullptr) return Status::kStale;
  uint64_t word = slot->word.load(std::memory_order_relaxed);
  if (epochOf(word) != static_cast<uint32_t>(handle >> 8) || (word & kUsers) == 0) return Status::kStale;
  unpin(slot);  // while it is held its epoch stands, also of a released one
  return Status::kOk;
}

void RegionTable::releaseAll() {
  for (auto& entry : chunks_) {
    Slot* chunk = entry.load(std::memory_order_acquire);
    for (uint32_t i = 0; chunk != nullptr && i < kChunkSlots; i++) {
      retire(&chunk[i], epochOf(chunk[i].word.load(std::memory_order_relaxed)));
    }
  }
}

RegionTable::Slot* RegionTable::find(uint64_t handle) const {
  uint64_t index = handle >> 40;
  if (kindOf(handle) != kind_ || index >= kNoSlot) return nullptr;
  Slot* chunk = chunks_[index / kChunkSlots].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : &chunk[index % kChunkSlots];
}

void RegionTable::giveBack(Slot* slot) {
  std::lock_guard<std::mutex> lock(mutex_);
  slot->nextFree = firstFree_;
  firstFree_ = slot->index;
}

RegionTable::Slot* RegionTable::takeSlot() {
  std::lock_guard<std::mutex> lock(mutex_);
  uint32_t index = firstFree_ != kNoSlot ? firstFree_ : used_;
  if (index == kNoSlot) return nullptr;
  auto& entry = chunks_[index / kChunkSlots];
  Slot* chunk = entry.load(std::memory_order_relaxed);
  if (chunk == nullptr) {
    chunk = new (std::nothrow) Slot[kChunkSlots];
    if (chunk == nullptr) return nullptr;
    entry.store(chunk, std::memory_order_release);
  }
  Slot* slot = &chunk[index % kChunkSlots];
  if (index == used_) {
    slot->index = index;
    used_++;
  } else {
    firstFree_ = slot->nextFree;
  }
  return slot;
}

bool RegionTable::retire(Slot* slot, uint32_t epoch) {
  uint64_t word = slot->word.load(std::memory_order_relaxed);
  do {
    if (epochOf(word) != epoch || (word & kLive) == 0) return false;
  } while (!slot->word.compare_exchange_weak(word, word & ~kLive, std::memory_order_acq_rel,
                                             std::memory_order_relaxed));
  if ((word & kUsers) == 0) reclaim(slot);
  return true;
}

void RegionTable::reclaim(Slot* slot) {
  delete slot->backing.exchange(nullptr, std::memory_order_acq_rel);
  if (slot->adopted) {
    slot->adopted = false;
  } else if (slot->memory.isOpen()) {
    unmapMemory(slot->base, slot->size);
    slot->memory = UniqueFd();
    slot->unshared = false;
    slot->frozen = false;
  } else if (slot->pages.isMapped()) {
    slot->pages = LockedPages();
  } else {
    std::free(slot->base);
  }
  heldBytes_.fetch_sub(slot->size, std::memory_order_relaxed);
  slot->base = nullptr;
  slot->size = 0;
  uint32_t next = epochOf(slot->word.load(std::memory_order_relaxed)) + 1;
  std::lock_guard<std::mutex> lock(mutex_);
  slot->word.store(uint64_t{next} << 32, std::memory_order_release);
  if (next == 0) return;  // all epochs are used: an old handle could come true again
  slot->nextFree = firstFree_;
  firstFree_ = slot->index;
}

}  // namespace dynamo
