#include "driver.h"

#include <dlfcn.h>

namespace dynamo::cuda {
namespace {

using GetProcAddressV2 = Result (*)(const char* name, void** function, int version, uint64_t flags,
                                    int* status);

/// The version whose form of each function is declared in Functions.
constexpr int kBaseVersion = 12000;

const char* remedyOf(Result error) {
  switch (error) {
    case kNoDevice:
      return "the driver is here and no GPU is; a container needs them passed through (--gpus all)";
    case 34:
      return "this library is a stub for linking; put the driver's own first on the library path";
    case 803:
      return "the library and the kernel's driver are of different versions; restart the host after an "
             "update";
    case 802:
      return "the driver is not ready yet; on hosts with NVSwitch, start the fabric manager";
    case 304:
    case 999:
      return "the device files cannot be opened; check the permissions of /dev/nvidia*";
    default:
      return "see `nvidia-smi` and the kernel's log";
  }
}

}  // namespace

/// Finds the functions of one library.
class Loader {
 public:
  explicit Loader(void* library) : library_(library) {
    getProcAddress_ = reinterpret_cast<GetProcAddressV2>(dlsym(library, "cuGetProcAddress_v2"));
  }

  /// Looks for a function: by the driver's own search in the form of a version, else by the exported name.
  template <typename F>
  bool find(F* into, const char* name, const char* exported, int version = kBaseVersion) {
    void* found = nullptr;
    int status = 0;
    if (getProcAddress_ == nullptr || getProcAddress_(name, &found, version, 0, &status) != kSuccess) {
      found = nullptr;
    }
    if (found == nullptr) found = dlsym(library_, exported);
    *into = reinterpret_cast<F>(found);
    return found != nullptr;
  }

  template <typename F>
  void need(F* into, const char* name, const char* exported) {
    if (!find(into, name, exported)) lacking_ += (lacking_.empty() ? "" : ", ") + std::string(exported);
  }

  void findAll(Driver* driver) {
    Functions& all = driver->functions_;
    need(&all.driverGetVersion, "cuDriverGetVersion", "cuDriverGetVersion");
    need(&all.getErrorName, "cuGetErrorName", "cuGetErrorName");
    need(&all.deviceGetCount, "cuDeviceGetCount", "cuDeviceGetCount");
    need(&all.deviceGet, "cuDeviceGet", "cuDeviceGet");
    need(&all.deviceGetName, "cuDeviceGetName", "cuDeviceGetName");
    need(&all.deviceGetAttribute, "cuDeviceGetAttribute", "cuDeviceGetAttribute");
    need(&all.deviceGetUuid, "cuDeviceGetUuid", "cuDeviceGetUuid");
    need(&all.deviceTotalMem, "cuDeviceTotalMem", "cuDeviceTotalMem_v2");
    need(&all.primaryContextRetain, "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain");
    need(&all.primaryContextRelease, "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2");
    need(&all.contextSetCurrent, "cuCtxSetCurrent", "cuCtxSetCurrent");
    need(&all.contextPush, "cuCtxPushCurrent", "cuCtxPushCurrent_v2");
    need(&all.contextPop, "cuCtxPopCurrent", "cuCtxPopCurrent_v2");
    need(&all.memAlloc, "cuMemAlloc", "cuMemAlloc_v2");
    need(&all.memFree, "cuMemFree", "cuMemFree_v2");
    need(&all.memHostAlloc, "cuMemHostAlloc", "cuMemHostAlloc");
    need(&all.memFreeHost, "cuMemFreeHost", "cuMemFreeHost");
    need(&all.memHostRegister, "cuMemHostRegister", "cuMemHostRegister_v2");
    need(&all.memHostUnregister, "cuMemHostUnregister", "cuMemHostUnregister");
    need(&all.memHostGetDevicePointer, "cuMemHostGetDevicePointer", "cuMemHostGetDevicePointer_v2");
    need(&all.memsetD8Async, "cuMemsetD8Async", "cuMemsetD8Async");
    need(&all.memcpyAsync, "cuMemcpyAsync", "cuMemcpyAsync");
    need(&all.streamCreate, "cuStreamCreate", "cuStreamCreate");
    need(&all.streamDestroy, "cuStreamDestroy", "cuStreamDestroy_v2");
    need(&all.streamSynchronize, "cuStreamSynchronize", "cuStreamSynchronize");
    need(&all.eventCreate, "cuEventCreate", "cuEventCreate");
    need(&all.eventRecord, "cuEventRecord", "cuEventRecord");
    need(&all.eventQuery, "cuEventQuery", "cuEventQuery");
    need(&all.eventDestroy, "cuEventDestroy", "cuEventDestroy_v2");
  }

  void findOptional(Driver* driver) {
    Functions& all = driver->functions_;
    auto& missing = driver->missing_;
    bool kernels = find(&all.moduleLoadDataEx, "cuModuleLoadDataEx", "cuModuleLoadDataEx");
    kernels = find(&all.moduleUnload, "cuModuleUnload", "cuModuleUnload") && kernels;
    kernels = find(&all.moduleGetFunction, "cuModuleGetFunction", "cuModuleGetFunction") && kernels;
    kernels = find(&all.launchKernel, "cuLaunchKernel", "cuLaunchKernel") && kernels;
    if (!kernels) {
      all.launchKernel = nullptr;
      missing.push_back("cuLaunchKernel");
    }
    // One name, two forms: which one comes depends on the version that is asked for, never on a guess.
    bool batches = false;
    if (driver->version_ >= kVersionWithPlainBatches) {
      batches = find(&all.memcpyPlainBatchAsync, "cuMemcpyBatchAsync", "cuMemcpyBatchAsync_v2",
                     kVersionWithPlainBatches);
    } else if (driver->version_ >= kVersionWithBatches) {
      batches = find(&all.memcpyBatchAsync, "cuMemcpyBatchAsync", "cuMemcpyBatchAsync", kVersionWithBatches);
    }
    if (!batches) missing.push_back("cuMemcpyBatchAsync");
    bool ipc = find(&all.ipcGetMemHandle, "cuIpcGetMemHandle", "cuIpcGetMemHandle");
    ipc = find(&all.ipcOpenMemHandle, "cuIpcOpenMemHandle", "cuIpcOpenMemHandle_v2") && ipc;
    ipc = find(&all.ipcCloseMemHandle, "cuIpcCloseMemHandle", "cuIpcCloseMemHandle") && ipc;
    ipc = find(&all.memGetAddressRange, "cuMemGetAddressRange", "cuMemGetAddressRange_v2") && ipc;
    if (!ipc) {
      all.ipcOpenMemHandle = nullptr;
      missing.push_back("cuIpcOpenMemHandle");
    }
  }

  std::shared_ptr<const Driver> load(std::string* why) {
    std::shared_ptr<Driver> driver(new Driver);
    Functions& all = driver->functions_;
    need(&all.init, "cuInit", "cuInit");
    if (all.init == nullptr) {
      *why = "it has no cuInit: it is not CUDA's driver library";
      return nullptr;
    }
    findAll(driver.get());
    if (!lacking_.empty()) {
      *why = "it lacks " + lacking_ + ": the driver is too old, update it";
      return nullptr;
    }
    Result result = all.init(0);
    if (result == kSuccess) result = all.driverGetVersion(&driver->version_);
    if (result == kSuccess) result = all.deviceGetCount(&driver->devices_);
    if (result == kSuccess && driver->devices_ < 1) result = kNoDevice;
    if (result != kSuccess) {
      *why = driver->describe(result) + ": " + remedyOf(result);
      return nullptr;
    }
    findOptional(driver.get());
    return driver;
  }

 private:
  void* library_;
  GetProcAddressV2 getProcAddress_;
  std::string lacking_;
};

std::shared_ptr<const Driver> Driver::open(const std::string& library, std::string* why) {
  void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* said = dlerror();
    *why = said == nullptr ? library + " cannot be opened" : said;
    return nullptr;
  }
  std::string reason;
  auto driver = Loader(opened).load(&reason);
  if (driver == nullptr) *why = library + ": " + reason;
  return driver;
}

std::string Driver::describe(Result error) const {
  const char* name = nullptr;
  if (functions_.getErrorName == nullptr || functions_.getErrorName(error, &name) != kSuccess ||
      name == nullptr) {
    name = "an unknown error";
  }
  return std::string(name) + " (" + std::to_string(error) + ")";
}

bool isSticky(Result error) {
  switch (error) {
    case 4:    // deinitialised: the process ends
    case 46:   // device unavailable
    case 214:  // uncorrectable ECC error
    case 220:  // uncorrectable NVLink error
    case 226:  // contained error
    case 700:  // illegal address
    case 702:  // launch timeout
    case 709:  // context is destroyed
    case 710:  // assert
    case 714:  // hardware stack error
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // invalid address space
    case 718:  // invalid program counter
    case 719:  // launch failed
    case 721:  // tensor memory leak
    case 999:  // unknown
      return true;
    default:
      return false;
  }
}

Status statusOf(Result error) {
  switch (error) {
    case kSuccess:
      return Status::kOk;
    case kOutOfMemory:
      return Status::kNoMemory;
    case kNotSupported:
      return Status::kUnsupported;
    default:
      return isSticky(error) ? Status::kDeviceLost : Status::kBackend;
  }
}

}  // namespace dynamo::cuda
