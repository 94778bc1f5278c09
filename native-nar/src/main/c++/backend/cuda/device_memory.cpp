#include "device_memory.h"

#include <cstring>
#include <utility>

namespace dynamo::cuda {
namespace {

constexpr uint64_t kNever = ~uint64_t{0};

std::byte* asBase(DeviceAddress address) { return reinterpret_cast<std::byte*>(address); }

/// Fills memory with zeros, and waits for it: nobody finds bytes of an earlier owner.
Status clear(Device& device, DeviceAddress address, uint64_t bytes) {
  const Functions& call = device.functions();
  Stream* stream = nullptr;
  Result result = call.streamCreate(&stream, kStreamNonBlocking);
  if (result != kSuccess) return device.failed("cuStreamCreate", result);
  result = call.memsetD8Async(address, 0, bytes, stream);
  Status status = device.failed("cuMemsetD8Async", result);
  if (status == Status::kOk) status = device.failed("cuStreamSynchronize", call.streamSynchronize(stream));
  call.streamDestroy(stream);
  return status;
}

/// The block of an own or imported region, or null.
const DeviceBlock* blockOf(const RegionTable::Pin& pin) {
  return dynamic_cast<const DeviceBlock*>(pin.backing());
}

}  // namespace

DeviceBlock::~DeviceBlock() {
  device_->discard([address = address_, origin = origin_](const Functions& call) {
    if (origin == Origin::kImported) {
      call.ipcCloseMemHandle(address);
    } else {
      call.memFree(address);
    }
  });
}

bool DeviceBlock::renew(uint64_t nowNanos, uint64_t leaseEnd) const {
  uint64_t end = leaseEnd_.load(std::memory_order_acquire);
  do {
    if (nowNanos >= end) return false;
  } while (!leaseEnd_.compare_exchange_weak(end, leaseEnd, std::memory_order_acq_rel));
  return true;
}

PinnedBlock::~PinnedBlock() {
  if (origin_ == Origin::kAllocated) {
    device_->discard([host = host_](const Functions& call) { call.memFreeHost(host); });
    return;
  }
  // Now and not later: the bytes are freed next, and must not be another one's while they are registered.
  Device::Scope scope(*device_);
  if (scope.result() == kSuccess) device_->functions().memHostUnregister(host_);
}

Status allocateOnDevice(Device& device, RegionTable& table, uint64_t bytes, uint64_t* handle) {
  if (bytes == 0) return Status::kInvalid;
  if (device.isLost()) return Status::kDeviceLost;
  Device::Scope scope(device);
  if (scope.result() != kSuccess) return device.failed("cuCtxPushCurrent", scope.result());
  DeviceAddress address = 0;
  Result result = device.functions().memAlloc(&address, bytes);
  if (result != kSuccess) return device.failed("cuMemAlloc", result);
  auto block = std::make_unique<DeviceBlock>(device.shared_from_this(), address,
                                             DeviceBlock::Origin::kAllocated, kNever);
  Status status = clear(device, address, bytes);
  return status == Status::kOk ? table.adopt(asBase(address), bytes, std::move(block), handle) : status;
}

Status allocatePinned(Device& device, RegionTable& table, uint64_t bytes, bool combinesWrites,
                      uint64_t* handle) {
  if (bytes == 0) return Status::kInvalid;
  if (device.isLost()) return Status::kDeviceLost;
  Device::Scope scope(device);
  if (scope.result() != kSuccess) return device.failed("cuCtxPushCurrent", scope.result());
  const Functions& call = device.functions();
  void* host = nullptr;
  unsigned int flags = kHostPortable | kHostMapped | (combinesWrites ? kHostCombinesWrites : 0);
  Result result = call.memHostAlloc(&host, bytes, flags);
  if (result != kSuccess) return device.failed("cuMemHostAlloc", result);
  DeviceAddress address = 0;
  result = call.memHostGetDevicePointer(&address, host, 0);
  auto block = std::make_unique<PinnedBlock>(device.shared_from_this(), host, address,
                                             PinnedBlock::Origin::kAllocated);
  if (result != kSuccess) return device.failed("cuMemHostGetDevicePointer", result);
  std::memset(host, 0, bytes);
  return table.adopt(static_cast<std::byte*>(host), bytes, std::move(block), handle);
}

Status registerRegion(Device& device, RegionTable& table, uint64_t handle) {
  if (device.isLost()) return Status::kDeviceLost;
  RegionTable::Pin pin;
  Status status = table.pin(handle, &pin);
  if (status != Status::kOk) return status;
  if (pin.backing() != nullptr) return Status::kInvalid;
  Device::Scope scope(device);
  if (scope.result() != kSuccess) return device.failed("cuCtxPushCurrent", scope.result());
  const Functions& call = device.functions();
  std::byte* host = pin.at(0, pin.size());
  Result result = call.memHostRegister(host, pin.size(), kHostPortable | kHostMapped);
  if (result == kHostMemoryAlreadyRegistered) return Status::kInvalid;
  if (result != kSuccess) return device.failed("cuMemHostRegister", result);
  DeviceAddress address = 0;
  result = call.memHostGetDevicePointer(&address, host, 0);
  auto block = std::make_unique<PinnedBlock>(device.shared_from_this(), host, address,
                                             PinnedBlock::Origin::kRegistered);
  if (result != kSuccess) return device.failed("cuMemHostGetDevicePointer", result);
  return table.attach(pin, std::move(block));
}

Status exportRegion(Device& device, RegionTable& table, uint64_t handle, IpcHandle* exported) {
  if (device.functions().ipcOpenMemHandle == nullptr) return Status::kUnsupported;
  if (device.isLost()) return Status::kDeviceLost;
  RegionTable::Pin pin;
  Status status = table.pin(handle, &pin);
  if (status != Status::kOk) return status;
  const DeviceBlock* block = blockOf(pin);
  if (block == nullptr || &block->device() != &device || block->origin() != DeviceBlock::Origin::kAllocated) {
    return Status::kInvalid;
  }
  Device::Scope scope(device);
  if (scope.result() != kSuccess) return device.failed("cuCtxPushCurrent", scope.result());
  return device.failed("cuIpcGetMemHandle", device.functions().ipcGetMemHandle(exported, block->address()));
}

Status importRegion(Device& device, RegionTable& table, const IpcHandle& exported, uint64_t bytes,
                    uint64_t leaseEnd, uint64_t* handle) {
  const Functions& call = device.functions();
  if (bytes == 0) return Status::kInvalid;
  if (call.ipcOpenMemHandle == nullptr) return Status::kUnsupported;
  if (device.isLost()) return Status::kDeviceLost;
  Device::Scope scope(device);
  if (scope.result() != kSuccess) return device.failed("cuCtxPushCurrent", scope.result());
  DeviceAddress address = 0;
  Result result = call.ipcOpenMemHandle(&address, exported, kIpcLazyPeerAccess);
  if (result != kSuccess) return device.failed("cuIpcOpenMemHandle", result);
  auto block = std::make_unique<DeviceBlock>(device.shared_from_this(), address,
                                             DeviceBlock::Origin::kImported, leaseEnd);
  DeviceAddress base = 0;
  size_t there = 0;
  result = call.memGetAddressRange(&base, &there, address);
  if (result != kSuccess) return device.failed("cuMemGetAddressRange", result);
  if (address < base || address - base > there || bytes > there - (address - base)) return Status::kRange;
  return table.adopt(asBase(address), bytes, std::move(block), handle);
}

Status renewRegion(RegionTable& table, uint64_t handle, uint64_t nowNanos, uint64_t leaseEnd) {
  RegionTable::Pin pin;
  Status status = table.pin(handle, &pin);
  if (status != Status::kOk) return status;
  const DeviceBlock* block = blockOf(pin);
  if (block == nullptr || block->origin() != DeviceBlock::Origin::kImported) return Status::kInvalid;
  return block->renew(nowNanos, leaseEnd) ? Status::kOk : Status::kStale;
}

}  // namespace dynamo::cuda
