#ifndef DYNAMO_BACKEND_CUDA_DEVICE_H_
#define DYNAMO_BACKEND_CUDA_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../../core/regions.h"
#include "../../core/status.h"
#include "driver.h"

namespace dynamo::cuda {

/// One GPU in this process: its context, its kernels, and whether it still works. Lives as long as memory of
/// it does. Safe for concurrent use.
class Device : public std::enable_shared_from_this<Device> {
 public:
  struct Kernels {
    Function* copyInline = nullptr;
    Function* copyList = nullptr;
    Function* permute16 = nullptr;
    Function* permute4 = nullptr;
    Function* permute1 = nullptr;
  };

  struct Facts {
    std::string name;
    std::string uuid;  ///< as nvidia-smi prints it
    uint64_t bytes = 0;
    int major = 0;
    int minor = 0;
    int multiprocessors = 0;
    std::string whyNoKernels;  ///< empty when there are kernels
  };

  /// Opens the device of an index. A failure leaves its reason in `why`.
  static Status open(std::shared_ptr<const Driver> driver, int index, std::shared_ptr<Device>* opened,
                     std::string* why);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Driver& driver() const { return *driver_; }
  const Functions& functions() const { return driver_->functions(); }
  const Facts& facts() const { return facts_; }
  const Kernels& kernels() const { return kernels_; }
  /// Makes its context the calling thread's for good.
  Result enter() { return functions().contextSetCurrent(context_); }

  bool isLost() const { return lost_.load(std::memory_order_acquire); }
  /// Notes a failure of a call, and the loss of the device if the failure is sticky. Returns its status.
  Status failed(const char* call, Result error);
  /// Ends all work here, as a sticky error does, for a reason that no call returned.
  void lose(const std::string& reason);
  /// Loses a device that does not answer: from here on no call is made that would wait for it, and nothing of
  /// it is freed.
  void giveUp(const std::string& reason);
  /// The last failure, in words; empty when there was none.
  std::string lastFailure() const;

  /// Frees memory or closes an import, soon, and never on the calling thread while a reaper runs: the driver
  /// may wait for the GPU to be idle.
  void discard(std::function<void(const Functions&)> free);
  /// Names who is woken when there is something to reap; null ends that, and reaps what is left.
  void setReaper(std::function<void()> wake);
  void reap();

  /// Makes its context current on the calling thread until the end of the scope.
  class Scope {
   public:
    explicit Scope(Device& device) : device_(device) {
      result_ = device.functions().contextPush(device.context_);
    }
    ~Scope() {
      Context* popped = nullptr;
      if (result_ == kSuccess) device_.functions().contextPop(&popped);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    Result result() const { return result_; }

   private:
    Device& device_;
    Result result_;
  };

 private:
  explicit Device(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}

  Result describe(DeviceOrdinal device);
  void loadKernels();

  std::shared_ptr<const Driver> driver_;
  DeviceOrdinal ordinal_ = 0;
  Context* context_ = nullptr;
  Module* module_ = nullptr;
  Facts facts_;
  Kernels kernels_;
  std::atomic<bool> lost_{false};
  std::atomic<bool> givenUp_{false};
  mutable std::mutex mutex_;  // guards the rest
  std::string lastFailure_;
  std::function<void()> reaper_;
  std::vector<std::function<void(const Functions&)>> discarded_;
};

}  // namespace dynamo::cuda

#endif  // DYNAMO_BACKEND_CUDA_DEVICE_H_
