#ifndef DYNAMO_BACKEND_CUDA_DEVICE_MEMORY_H_
#define DYNAMO_BACKEND_CUDA_DEVICE_MEMORY_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "../../core/regions.h"
#include "../../core/status.h"
#include "device.h"

namespace dynamo::cuda {

/// A device's bytes behind a region of the table of device regions.
class DeviceBlock final : public RegionBacking {
 public:
  enum class Origin { kAllocated, kImported };

  DeviceBlock(std::shared_ptr<Device> device, DeviceAddress address, Origin origin, uint64_t leaseEnd)
      : device_(std::move(device)), address_(address), origin_(origin), leaseEnd_(leaseEnd) {}
  ~DeviceBlock() override;

  const Device& device() const { return *device_; }
  DeviceAddress address() const { return address_; }
  Origin origin() const { return origin_; }
  /// Whether the process that owns the bytes may have taken them back.
  bool isOver(uint64_t nowNanos) const { return nowNanos >= leaseEnd_.load(std::memory_order_acquire); }
  /// Moves the end of the lease; false when it is over.
  bool renew(uint64_t nowNanos, uint64_t leaseEnd) const;

 private:
  std::shared_ptr<Device> device_;
  DeviceAddress address_;
  Origin origin_;
  mutable std::atomic<uint64_t> leaseEnd_;
};

/// What makes a region of host memory reachable by devices: the region's bytes come from the driver, or were
/// registered with it.
class PinnedBlock final : public RegionBacking {
 public:
  enum class Origin { kAllocated, kRegistered };

  PinnedBlock(std::shared_ptr<Device> device, void* host, DeviceAddress address, Origin origin)
      : device_(std::move(device)), host_(host), address_(address), origin_(origin) {}
  ~PinnedBlock() override;

  const Device& device() const { return *device_; }
  /// Where kernels find the bytes.
  DeviceAddress address() const { return address_; }

 private:
  std::shared_ptr<Device> device_;
  void* host_;
  DeviceAddress address_;
  Origin origin_;
};

/// Zeroed memory of a device, as a region of `table`, which is one of device regions.
Status allocateOnDevice(Device& device, RegionTable& table, uint64_t bytes, uint64_t* handle);

/// Zeroed host memory that devices reach, as a region of `table`, which is one of host regions. Combined
/// writes are for bytes that the processor never reads.
Status allocatePinned(Device& device, RegionTable& table, uint64_t bytes, bool combinesWrites,
                      uint64_t* handle);

/// Registers a region of host memory, until it is released; kInvalid when it is reachable already.
Status registerRegion(Device& device, RegionTable& table, uint64_t handle);

/// A handle by which other processes of the host import a region; kInvalid for an imported one.
Status exportRegion(Device& device, RegionTable& table, uint64_t handle, IpcHandle* exported);

/// Maps memory of a device that another process has allocated, for the time of a lease. kRange when it has
/// fewer than `bytes` bytes.
Status importRegion(Device& device, RegionTable& table, const IpcHandle& exported, uint64_t bytes,
                    uint64_t leaseEnd, uint64_t* handle);

/// Moves the end of the lease of an imported region; kStale when it is over.
Status renewRegion(RegionTable& table, uint64_t handle, uint64_t nowNanos, uint64_t leaseEnd);

}  // namespace dynamo::cuda

#endif  // DYNAMO_BACKEND_CUDA_DEVICE_MEMORY_H_
