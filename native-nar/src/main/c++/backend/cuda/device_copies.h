#ifndef DYNAMO_BACKEND_CUDA_DEVICE_COPIES_H_
#define DYNAMO_BACKEND_CUDA_DEVICE_COPIES_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "../../core/copy.h"
#include "../../core/regions.h"
#include "../../core/status.h"
#include "copy_plan.h"
#include "device.h"
#include "kernels.h"
#include "launches.h"

namespace dynamo::cuda {

/// Copies to, from and within a device on a thread of its own, which hands parts of batches to the driver and
/// polls for their end. Each request ends once. Its regions stay pinned until the device has let go of them,
/// however it ends. Safe for concurrent use; only await() and close() wait.
///
/// A batch goes in parts, so that an urgent one, a cancellation or a deadline waits for the parts on the
/// device and never for a whole batch. An error that the driver never recovers from ends every request, and
/// the device is not used again.
class DeviceCopies {
 public:
  struct Completion {
    uint64_t ticket;
    Status status;
    uint64_t bytes;  ///< that were moved, also by one that failed
  };

  struct Counts {
    uint64_t completed;
    uint64_t failed;
    uint64_t bytes;
    uint64_t singles;  ///< parts by method
    uint64_t batches;
    uint64_t kernels;
  };

  /// What every request has.
  struct Order {
    uint64_t ticket;
    bool onboard;            ///< goes before those that are not
    uint64_t deadlineNanos;  ///< of the steady clock; 0 for none
    uint64_t source;         ///< handles of regions
    uint64_t target;
  };

  static constexpr size_t kMostRequests = 4096;
  static constexpr uint64_t kQuietNanos = uint64_t{10} * 1'000'000'000;  ///< until close() gives a device up

  /// Starts the thread over the tables in which regions of the host and of devices are found.
  static Status open(std::shared_ptr<Device> device, RegionTable& host, RegionTable& devices,
                     std::unique_ptr<DeviceCopies>* opened);
  ~DeviceCopies();
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  Device& device() const { return *device_; }

  /// Begins to copy ranges. kRange or kInvalid when that can never be right, kBusy when too many requests are
  /// there, kStale when a region or this is closed, kDeviceLost when the device failed.
  Status submit(const Order& order, std::vector<CopyRange> ranges);
  /// Begins to move blocks into another order of their dimensions. `blocks` has the offsets of each in the
  /// two regions; the strides and sizes are those of `shape`, in bytes, its addresses and counts are not
  /// read. kUnsupported without kernels, or for pageable memory.
  Status submitPermutation(const Order& order, const BlockShape& shape, std::vector<BlockPair> blocks);
  /// Gives a request up; its completion follows when the device has let go of it.
  void cancel(uint64_t ticket);
  /// Waits for completions; kStale when it is closed and none is left.
  Status await(uint64_t maxNanos, std::vector<Completion>* ended);
  Counts counts() const;
  /// Lets what was submitted end, cancels what is left after `maxNanos`, and ends the thread. A device that
  /// does not let go of memory `quietNanos` later is lost, and what it may still touch is never freed.
  void close(uint64_t maxNanos, uint64_t quietNanos = kQuietNanos);

 private:
  struct Job;
  struct Part {
    Job* job;
    Event* event;
    uint64_t bytes;
    int list;  ///< of the launches, or none
  };
  struct Lane {
    Stream* stream = nullptr;
    std::deque<Part> parts;
  };
  enum class Life { kOpen, kClosing, kClosed };

  static constexpr size_t kLanesPerWay = 4;
  static constexpr uint64_t kFlyingBytes = uint64_t{128} << 20;
  static constexpr size_t kFlyingParts = 32;

  DeviceCopies(std::shared_ptr<Device> device, RegionTable& host, RegionTable& devices);

  Status pinSides(const Order& order, Job* job);
  Status enqueue(std::unique_ptr<Job> job);
  void run();
  Result setUp();
  void tearDown();
  bool takeArrived();
  void admit(std::unique_ptr<Job> job);
  void applyCancels();
  void endExpired(uint64_t now);
  void end(Job* job, Status status);
  void endAll(Status status);
  bool poll();
  void issue();
  Job* nextJob();
  void issuePart(Job* job);
  Result launchPart(Job* job, Lane& lane, Part* part);
  Result copyPart(Job* job, Stream* stream, Part* part);
  Result copySingly(const Job& job, Stream* stream);
  Result copyBatched(const Job& job, Stream* stream);
  Event* takeEvent(Result* result);
  void settle(Job* job);
  void finish(Job* job);
  void loseAll();
  void abandon();
  bool rest(bool progressed);
  void wake();

  std::shared_ptr<Device> device_;
  RegionTable& host_;
  RegionTable& devices_;

  // the thread's
  std::array<Lane, 2 * kLanesPerWay> lanes_;  // first those out of the device
  std::array<size_t, 2> nextLane_{};
  std::vector<Event*> idleEvents_;
  std::unique_ptr<Launches> launches_;
  bool batches_ = false;
  std::unordered_map<uint64_t, std::unique_ptr<Job>> jobs_;
  std::array<std::deque<Job*>, 2> queues_;  // those with something left to begin, onboard first
  std::vector<CopyRange> part_;
  std::vector<DeviceAddress> targets_;
  std::vector<DeviceAddress> sources_;
  std::vector<size_t> sizes_;
  size_t flyingParts_ = 0;
  uint64_t flyingBytes_ = 0;
  uint64_t earliestDeadline_ = ~uint64_t{0};
  uint64_t idleSince_ = 0;

  std::atomic<uint64_t> completed_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> bytes_{0};
  std::array<std::atomic<uint64_t>, 3> parts_{};

  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable wake_;
  std::condition_variable ended_;
  std::vector<std::unique_ptr<Job>> arrived_;
  std::unordered_set<uint64_t> open_;
  std::unordered_set<uint64_t> cancels_;  // of requests that have not ended
  std::vector<Completion> completions_;
  bool woken_ = false;
  Life life_ = Life::kOpen;
  uint64_t closeNanos_ = 0;
  uint64_t quietNanos_ = kQuietNanos;

  std::mutex joining_;
  std::thread thread_;  // guarded by joining_ after the start
};

}  // namespace dynamo::cuda

#endif  // DYNAMO_BACKEND_CUDA_DEVICE_COPIES_H_
