#ifndef DYNAMO_BACKEND_CUDA_DRIVER_H_
#define DYNAMO_BACKEND_CUDA_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../../core/status.h"

namespace dynamo::cuda {

// The part of CUDA's driver interface that is used here, declared anew: the library is looked for at run time
// and the build needs no header of it. Numbers and layouts are those of its public reference.

using Result = int;
using DeviceOrdinal = int;
using DeviceAddress = uint64_t;  ///< in the address space that devices share with the host
struct Context;
struct Stream;
struct Event;
struct Module;
struct Function;

constexpr Result kSuccess = 0;
constexpr Result kInvalidValue = 1;
constexpr Result kOutOfMemory = 2;
constexpr Result kNoDevice = 100;
constexpr Result kNotReady = 600;
constexpr Result kHostMemoryAlreadyRegistered = 712;
constexpr Result kNotSupported = 801;

struct Uuid {
  unsigned char bytes[16];
};

struct IpcHandle {
  unsigned char bytes[64];
};

struct MemoryLocation {
  int type;
  int id;
};

/// How the copies of a batch are done.
struct CopyAttributes {
  int sourceAccessOrder;
  MemoryLocation sourceHint;
  MemoryLocation targetHint;
  unsigned int flags;
};

constexpr int kAccessInStreamOrder = 1;
constexpr unsigned int kStreamNonBlocking = 1;
constexpr unsigned int kEventBlockingSync = 1;
constexpr unsigned int kEventWithoutTiming = 2;
constexpr unsigned int kHostPortable = 1;
constexpr unsigned int kHostMapped = 2;
constexpr unsigned int kHostCombinesWrites = 4;
constexpr unsigned int kIpcLazyPeerAccess = 1;
constexpr int kAttributeMultiprocessors = 16;
constexpr int kAttributeUnifiedAddressing = 41;
constexpr int kAttributeMajor = 75;
constexpr int kAttributeMinor = 76;
constexpr int kVersionWithBatches = 12080;       ///< cuMemcpyBatchAsync with an index of the failed copy
constexpr int kVersionWithPlainBatches = 13000;  ///< the same without it

/// The functions of libcuda, found once. Each may be called by any thread; most want a current context.
struct Functions {
  Result (*init)(unsigned int flags);
  Result (*driverGetVersion)(int* version);
  Result (*getErrorName)(Result error, const char** name);
  Result (*deviceGetCount)(int* count);
  Result (*deviceGet)(DeviceOrdinal* device, int index);
  Result (*deviceGetName)(char* name, int length, DeviceOrdinal device);
  Result (*deviceGetAttribute)(int* value, int attribute, DeviceOrdinal device);
  Result (*deviceGetUuid)(Uuid* uuid, DeviceOrdinal device);
  Result (*deviceTotalMem)(size_t* bytes, DeviceOrdinal device);
  Result (*primaryContextRetain)(Context** context, DeviceOrdinal device);
  Result (*primaryContextRelease)(DeviceOrdinal device);
  Result (*contextSetCurrent)(Context* context);
  Result (*contextPush)(Context* context);
  Result (*contextPop)(Context** context);
  Result (*memAlloc)(DeviceAddress* address, size_t bytes);
  Result (*memFree)(DeviceAddress address);
  Result (*memHostAlloc)(void** address, size_t bytes, unsigned int flags);
  Result (*memFreeHost)(void* address);
  Result (*memHostRegister)(void* address, size_t bytes, unsigned int flags);
  Result (*memHostUnregister)(void* address);
  Result (*memHostGetDevicePointer)(DeviceAddress* device, void* host, unsigned int flags);
  Result (*memsetD8Async)(DeviceAddress address, unsigned char value, size_t bytes, Stream* stream);
  Result (*memcpyAsync)(DeviceAddress target, DeviceAddress source, size_t bytes, Stream* stream);
  Result (*streamCreate)(Stream** stream, unsigned int flags);
  Result (*streamDestroy)(Stream* stream);
  Result (*streamSynchronize)(Stream* stream);
  Result (*eventCreate)(Event** event, unsigned int flags);
  Result (*eventRecord)(Event* event, Stream* stream);
  Result (*eventQuery)(Event* event);
  Result (*eventDestroy)(Event* event);

  // What follows is optional: null where this driver lacks it.
  Result (*moduleLoadDataEx)(Module** module, const void* image, unsigned int count, int* options,
                             void** values);
  Result (*moduleUnload)(Module* module);
  Result (*moduleGetFunction)(Function** function, Module* module, const char* name);
  Result (*launchKernel)(Function* function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                         unsigned int blockX, unsigned int blockY, unsigned int blockZ,
                         unsigned int sharedBytes, Stream* stream, void** parameters, void** extra);
  Result (*memcpyBatchAsync)(DeviceAddress* targets, DeviceAddress* sources, size_t* sizes, size_t count,
                             CopyAttributes* attributes, size_t* attributeIndices, size_t attributeCount,
                             size_t* failed, Stream* stream);
  Result (*memcpyPlainBatchAsync)(DeviceAddress* targets, DeviceAddress* sources, size_t* sizes, size_t count,
                                  CopyAttributes* attributes, size_t* attributeIndices, size_t attributeCount,
                                  Stream* stream);
  Result (*ipcGetMemHandle)(IpcHandle* handle, DeviceAddress address);
  Result (*ipcOpenMemHandle)(DeviceAddress* address, IpcHandle handle, unsigned int flags);
  Result (*ipcCloseMemHandle)(DeviceAddress address);
  Result (*memGetAddressRange)(DeviceAddress* base, size_t* bytes, DeviceAddress address);
};

/// NVIDIA's driver library, opened and initialised. Never unmapped: it has threads of its own.
class Driver {
 public:
  static constexpr const char* kLibrary = "libcuda.so.1";

  /// Opens a library by name or path, or returns null; then `why` says what is missing and what it takes.
  static std::shared_ptr<const Driver> open(const std::string& library, std::string* why);

  const Functions& functions() const { return functions_; }
  /// The newest CUDA version that the driver supports: 12080 is 12.8.
  int version() const { return version_; }
  int deviceCount() const { return devices_; }
  /// The optional functions that this driver lacks.
  const std::vector<std::string>& missing() const { return missing_; }
  /// The name of an error, such as CUDA_ERROR_ILLEGAL_ADDRESS, and its number.
  std::string describe(Result error) const;

 private:
  friend class Loader;
  Driver() = default;

  Functions functions_{};
  int version_ = 0;
  int devices_ = 0;
  std::vector<std::string> missing_;
};

/// Whether an error ends the context that met it: every later call there fails, too.
bool isSticky(Result error);

/// The status of an error that is not sticky.
Status statusOf(Result error);

}  // namespace dynamo::cuda

#endif  // DYNAMO_BACKEND_CUDA_DRIVER_H_
