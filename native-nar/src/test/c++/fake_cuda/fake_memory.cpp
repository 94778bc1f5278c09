#include "fake_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace fakecuda {
namespace {

constexpr size_t kPage = 4096;
constexpr uint64_t kMagic = 0x6b61662d63706943;

struct Exported {
  uint64_t magic;
  int64_t process;
  int64_t fd;
  uint64_t bytes;
};

size_t pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

/// Addresses with a guard page on both sides.
uint64_t reserve(size_t bytes) {
  void* at =
      mmap(nullptr, pages(bytes) + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? 0 : reinterpret_cast<uint64_t>(at) + kPage;
}

std::byte* mapShared(int fd, size_t bytes) {
  void* at = mmap(nullptr, pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

}  // namespace

uint64_t FakeMemory::add(Kind kind, size_t bytes, std::byte* memory, int fd) {
  uint64_t device = reserve(bytes);
  if (device == 0) return 0;
  std::lock_guard<std::mutex> lock(mutex_);
  byDevice_[device] = {kind, bytes, device, memory, fd};
  if (kind == Kind::kHost || kind == Kind::kRegistered) byHost_[reinterpret_cast<uint64_t>(memory)] = device;
  return device;
}

uint64_t FakeMemory::allocate(size_t bytes) {
  int fd = memfd_create("fake-device", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(pages(bytes))) != 0) return 0;
  std::byte* memory = mapShared(fd, bytes);
  if (memory == nullptr) return 0;
  std::memset(memory, 0xa5, bytes);  // whatever an earlier owner left
  return add(Kind::kDevice, bytes, memory, fd);
}

bool FakeMemory::remove(uint64_t device, Kind kind, size_t* bytes) {
  Allocation gone;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = byDevice_.find(device);
    if (found == byDevice_.end() || found->second.kind != kind) return false;
    gone = found->second;
    byDevice_.erase(found);
    byHost_.erase(reinterpret_cast<uint64_t>(gone.memory));
  }
  munmap(reinterpret_cast<void*>(device - kPage), pages(gone.bytes) + 2 * kPage);
  if (kind != Kind::kRegistered) munmap(gone.memory, pages(gone.bytes));
  if (gone.fd >= 0) ::close(gone.fd);
  *bytes = gone.bytes;
  return true;
}

size_t FakeMemory::release(uint64_t device) {
  size_t bytes = 0;
  return remove(device, Kind::kDevice, &bytes) ? bytes : 0;
}

void* FakeMemory::allocateHost(size_t bytes) {
  void* at = mmap(nullptr, pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  std::memset(at, 0x5a, bytes);
  return add(Kind::kHost, bytes, static_cast<std::byte*>(at), -1) == 0 ? nullptr : at;
}

bool FakeMemory::releaseHost(void* host) {
  size_t bytes = 0;
  uint64_t device = mapped(host);
  return device != 0 && remove(device, Kind::kHost, &bytes);
}

bool FakeMemory::registerHost(void* host, size_t bytes) {
  Where where;
  auto begin = reinterpret_cast<uint64_t>(host);
  if (resolve(begin, bytes, &where) == nullptr || where != Where::kPageable) return false;
  return add(Kind::kRegistered, bytes, static_cast<std::byte*>(host), -1) != 0;
}

bool FakeMemory::unregisterHost(void* host) {
  size_t bytes = 0;
  uint64_t device = mapped(host);
  return device != 0 && remove(device, Kind::kRegistered, &bytes);
}

uint64_t FakeMemory::mapped(void* host) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = byHost_.find(reinterpret_cast<uint64_t>(host));
  return found == byHost_.end() ? 0 : found->second;
}

bool FakeMemory::rangeOf(uint64_t device, uint64_t* base, size_t* bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  Allocation* found = holding(device);
  if (found == nullptr) return false;
  *base = found->device;
  *bytes = found->bytes;
  return true;
}

bool FakeMemory::exported(uint64_t device, unsigned char (&handle)[64]) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = byDevice_.find(device);
  if (found == byDevice_.end() || found->second.kind != Kind::kDevice) return false;
  Exported name{kMagic, getpid(), found->second.fd, found->second.bytes};
  std::memset(handle, 0, sizeof handle);
  std::memcpy(handle, &name, sizeof name);
  return true;
}

uint64_t FakeMemory::import(const unsigned char (&handle)[64], bool ownToo, bool* isOwn) {
  Exported name;
  std::memcpy(&name, handle, sizeof name);
  if (name.magic != kMagic) return 0;
  *isOwn = name.process == getpid();
  if (*isOwn && !ownToo) return 0;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%lld", static_cast<long long>(name.process),
                static_cast<long long>(name.fd));
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return 0;
  std::byte* memory = mapShared(fd, name.bytes);
  return memory == nullptr ? 0 : add(Kind::kImported, name.bytes, memory, fd);
}

bool FakeMemory::closeImport(uint64_t device) {
  size_t bytes = 0;
  return remove(device, Kind::kImported, &bytes);
}

/// The caller has the lock.
FakeMemory::Allocation* FakeMemory::holding(uint64_t address) {
  auto after = byDevice_.upper_bound(address);
  if (after == byDevice_.begin()) return nullptr;
  Allocation& before = std::prev(after)->second;
  return address - before.device < before.bytes ? &before : nullptr;
}

std::byte* FakeMemory::at(uint64_t address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  Allocation* found = holding(address);
  if (found == nullptr || bytes > found->bytes - (address - found->device)) return nullptr;
  return found->memory + (address - found->device);
}

bool FakeMemory::find(uint64_t address, uint64_t* device, std::byte** memory, size_t* bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  Allocation* found = holding(address);
  if (found == nullptr) return false;
  *device = found->device;
  *memory = found->memory;
  *bytes = found->bytes;
  return true;
}

std::byte* FakeMemory::resolve(uint64_t address, size_t bytes, Where* where) {
  std::lock_guard<std::mutex> lock(mutex_);
  Allocation* found = holding(address);
  if (found != nullptr) {
    bool pinned = found->kind == Kind::kHost || found->kind == Kind::kRegistered;
    *where = pinned ? Where::kPinned : Where::kDevice;
    uint64_t offset = address - found->device;
    return bytes > found->bytes - offset ? nullptr : found->memory + offset;
  }
  auto after = byHost_.upper_bound(address);
  if (after != byHost_.begin()) {
    auto before = std::prev(after);
    const Allocation& host = byDevice_.at(before->second);
    uint64_t offset = address - before->first;
    if (offset < host.bytes) {
      *where = Where::kPinned;
      return bytes > host.bytes - offset ? nullptr : host.memory + offset;
    }
  }
  *where = Where::kPageable;
  return reinterpret_cast<std::byte*>(address);
}

void FakeMemory::end() {
  std::map<uint64_t, Allocation> all;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    all = byDevice_;
  }
  size_t bytes = 0;
  for (const auto& [device, allocation] : all) remove(device, allocation.kind, &bytes);
}

size_t FakeMemory::live() {
  std::lock_guard<std::mutex> lock(mutex_);
  return byDevice_.size();
}

}  // namespace fakecuda
