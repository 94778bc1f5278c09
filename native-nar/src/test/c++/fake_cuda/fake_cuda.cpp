#include "fake_cuda.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "fake_device.h"
#include "fake_memory.h"
#include "ptx.h"

// A driver library for tests: what libcuda.so.1 exports, over the fake GPU. It is opened by the same loader.

namespace {

using namespace fakecuda;

struct Failure {
  int countdown;
  int error;
};

struct Module {
  std::map<std::string, Entry> entries;
};

struct State {
  std::mutex mutex;  // guards the configuration and the counts
  int version = 12080;
  int devices = 1;
  bool search = true;
  bool importOwn = false;
  bool initialised = false;
  int64_t retained = 0;
  std::set<Module*> modules;
  std::map<std::string, Failure> failures;
  std::map<std::string, int64_t> calls;
  std::atomic<int64_t> violations{0};
  FakeMemory memory;
  FakeDevice device;
};

State& state() {
  static State& only = *new State;  // its threads may still run at the end of the process
  return only;
}

struct Context {
} theContext;

thread_local std::vector<Context*> contexts;

bool endsContext(int error) {
  return error == 214 || error == 700 || error == 702 || (error >= 714 && error <= 719) || error == 999;
}

void violation(const char* what) {
  std::fprintf(stderr, "fake CUDA: %s\n", what);
  state().violations++;
}

/// Counts a call, and returns the error that it has to fail with, or 0.
int begin(const char* function, bool needsContext) {
  State& all = state();
  int error = 0;
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    all.calls[function]++;
    auto found = all.failures.find(function);
    if (found != all.failures.end() && --found->second.countdown == 0) {
      error = found->second.error;
      all.failures.erase(found);
    }
    if (!all.initialised && std::string(function) != "cuInit" && error == 0) error = 3;
  }
  if (endsContext(error)) all.device.setStickyError(error);
  if (error != 0 || !needsContext) return error;
  if (contexts.empty()) {
    violation((std::string(function) + " without a context").c_str());
    return 201;
  }
  return all.device.stickyError();
}

#define BEGIN(name, needsContext)               \
  do {                                          \
    int beginError = begin(name, needsContext); \
    if (beginError != 0) return beginError;     \
  } while (false)

int queueCopy(uint64_t target, uint64_t source, size_t bytes, FakeStream* stream) {
  State& all = state();
  Where from;
  Where to;
  std::byte* read = all.memory.resolve(source, bytes, &from);
  std::byte* written = all.memory.resolve(target, bytes, &to);
  if (read == nullptr || written == nullptr || !all.device.isStream(stream)) return 1;
  Work work;
  if (from == Where::kPageable) {  // staged before the call returns
    auto staged = std::make_shared<std::vector<std::byte>>(read, read + bytes);
    work.touches = {{target, bytes}};
    work.run = [&all, target, bytes, staged] {
      Where where;
      std::byte* there = all.memory.resolve(target, bytes, &where);
      if (there == nullptr) return 700;
      std::memcpy(there, staged->data(), bytes);
      return 0;
    };
  } else {
    work.touches = {{target, bytes}, {source, bytes}};
    work.run = [&all, target, source, bytes, from, to] {
      Where nowFrom;
      Where nowTo;
      std::byte* here = all.memory.resolve(source, bytes, &nowFrom);
      std::byte* there = all.memory.resolve(target, bytes, &nowTo);
      if (here == nullptr || there == nullptr || nowFrom != from || nowTo != to) return 700;
      std::memmove(there, here, bytes);
      return 0;
    };
  }
  all.device.submit(stream, std::move(work));
  if (to == Where::kPageable) all.device.synchronize(stream);  // such a copy has ended when the call returns
  return 0;
}

/// Ends the use of memory, after the implicit wait of the driver.
template <typename Free>
int release(uint64_t address, size_t bytes, Free free) {
  State& all = state();
  if (all.device.isBusy(address, bytes)) violation("memory is freed while work touches it");
  if (all.device.stickyError() == 0) all.device.synchronize(nullptr);
  if (!free()) {
    violation("memory is freed that is not there");
    return 1;
  }
  return all.device.stickyError();
}

}  // namespace

extern "C" {

void fakeCudaReset(int version, int devices) {
  State& all = state();
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    all.version = version;
    all.devices = devices;
    all.search = true;
    all.importOwn = false;
    all.failures.clear();
    all.calls.clear();
    all.violations = 0;
  }
  all.device.reset();
}

void fakeCudaFail(const char* function, int nth, int error) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().failures[function] = {nth, error};
}

void fakeCudaFailWork(int nth, int error) { state().device.failWork(nth, error); }
void fakeCudaAllow(int64_t works) { state().device.allow(works); }

void fakeCudaWithoutSearch(int without) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().search = without == 0;
}

void fakeCudaImportOwn(int allowed) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().importOwn = allowed != 0;
}

int64_t fakeCudaCalls(const char* function) {
  std::lock_guard<std::mutex> lock(state().mutex);
  return state().calls[function];
}

int64_t fakeCudaLive() {
  State& all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  return static_cast<int64_t>(all.memory.live() + all.device.live() + all.modules.size()) + all.retained;
}

int fakeCudaBusy() { return state().device.hasWork() ? 1 : 0; }

int64_t fakeCudaViolations() { return state().violations; }

int cuInit(unsigned int flags) {
  BEGIN("cuInit", false);
  std::lock_guard<std::mutex> lock(state().mutex);
  if (state().devices == 0) return 100;
  state().initialised = true;
  return flags == 0 ? 0 : 1;
}

int cuDriverGetVersion(int* version) {
  BEGIN("cuDriverGetVersion", false);
  std::lock_guard<std::mutex> lock(state().mutex);
  *version = state().version;
  return 0;
}

int cuGetErrorName(int error, const char** name) {
  switch (error) {
    case 1:
      *name = "CUDA_ERROR_INVALID_VALUE";
      return 0;
    case 2:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      return 0;
    case 100:
      *name = "CUDA_ERROR_NO_DEVICE";
      return 0;
    case 201:
      *name = "CUDA_ERROR_INVALID_CONTEXT";
      return 0;
    case 218:
      *name = "CUDA_ERROR_INVALID_PTX";
      return 0;
    case 700:
      *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      return 0;
    case 716:
      *name = "CUDA_ERROR_MISALIGNED_ADDRESS";
      return 0;
    case 719:
      *name = "CUDA_ERROR_LAUNCH_FAILED";
      return 0;
    case 801:
      *name = "CUDA_ERROR_NOT_SUPPORTED";
      return 0;
    case 803:
      *name = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH";
      return 0;
    default:
      *name = nullptr;
      return 1;
  }
}

int cuDeviceGetCount(int* count) {
  BEGIN("cuDeviceGetCount", false);
  std::lock_guard<std::mutex> lock(state().mutex);
  *count = state().devices;
  return 0;
}

int cuDeviceGet(int* device, int index) {
  BEGIN("cuDeviceGet", false);
  *device = index;
  return 0;
}

int cuDeviceGetName(char* name, int length, int device) {
  BEGIN("cuDeviceGetName", false);
  std::snprintf(name, static_cast<size_t>(length), "Fake GPU %d", device);
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  BEGIN("cuDeviceGetAttribute", false);
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 4 : attribute == 41 ? 1 : 0;
  return 0;
}

int cuDeviceGetUuid(unsigned char* uuid, int device) {
  BEGIN("cuDeviceGetUuid", false);
  for (int i = 0; i < 16; i++) uuid[i] = static_cast<unsigned char>(16 * device + i);
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int) {
  BEGIN("cuDeviceTotalMem", false);
  *bytes = size_t{8} << 30;
  return 0;
}

int cuDevicePrimaryCtxRetain(Context** context, int) {
  BEGIN("cuDevicePrimaryCtxRetain", false);
  std::lock_guard<std::mutex> lock(state().mutex);
  state().retained++;
  *context = &theContext;
  return 0;
}

int cuDevicePrimaryCtxRelease_v2(int) {
  BEGIN("cuDevicePrimaryCtxRelease", false);
  std::lock_guard<std::mutex> lock(state().mutex);
  State& all = state();
  if (all.retained-- <= 0) violation("a context is released that nobody has");
  if (all.retained > 0) return 0;
  for (Module* module : all.modules) delete module;
  all.modules.clear();
  all.device.end();
  all.memory.end();
  return 0;
}

int cuCtxSetCurrent(Context* context) {
  BEGIN("cuCtxSetCurrent", false);
  contexts.assign(1, context);
  return 0;
}

int cuCtxPushCurrent_v2(Context* context) {
  BEGIN("cuCtxPushCurrent", false);
  contexts.push_back(context);
  return 0;
}

int cuCtxPopCurrent_v2(Context** context) {
  BEGIN("cuCtxPopCurrent", false);
  if (contexts.empty()) return 201;
  *context = contexts.back();
  contexts.pop_back();
  return 0;
}

int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  BEGIN("cuMemAlloc", true);
  *address = bytes == 0 || bytes > (size_t{8} << 30) ? 0 : state().memory.allocate(bytes);
  return *address == 0 ? 2 : 0;
}

int cuMemFree_v2(uint64_t address) {
  BEGIN("cuMemFree", true);
  uint64_t base = 0;
  size_t bytes = 0;
  state().memory.rangeOf(address, &base, &bytes);
  return release(address, bytes, [address] { return state().memory.release(address) != 0; });
}

int cuMemHostAlloc(void** address, size_t bytes, unsigned int flags) {
  BEGIN("cuMemHostAlloc", true);
  if ((flags & ~7u) != 0 || bytes == 0) return 1;
  *address = state().memory.allocateHost(bytes);
  return *address == nullptr ? 2 : 0;
}

int cuMemFreeHost(void* address) {
  BEGIN("cuMemFreeHost", true);
  return release(reinterpret_cast<uint64_t>(address), 1,
                 [address] { return state().memory.releaseHost(address); });
}

int cuMemHostRegister_v2(void* address, size_t bytes, unsigned int flags) {
  BEGIN("cuMemHostRegister", true);
  if ((flags & ~3u) != 0 || bytes == 0) return 1;
  return state().memory.registerHost(address, bytes) ? 0 : 712;
}

int cuMemHostUnregister(void* address) {
  BEGIN("cuMemHostUnregister", true);
  return release(reinterpret_cast<uint64_t>(address), 1,
                 [address] { return state().memory.unregisterHost(address); });
}

int cuMemHostGetDevicePointer_v2(uint64_t* device, void* host, unsigned int) {
  BEGIN("cuMemHostGetDevicePointer", true);
  *device = state().memory.mapped(host);
  return *device == 0 ? 1 : 0;
}

int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, FakeStream* stream) {
  BEGIN("cuMemsetD8Async", true);
  State& all = state();
  if (all.memory.at(address, bytes) == nullptr || !all.device.isStream(stream)) return 1;
  Work work;
  work.touches = {{address, bytes}};
  work.run = [&all, address, value, bytes] {
    std::byte* there = all.memory.at(address, bytes);
    if (there == nullptr) return 700;
    std::memset(there, value, bytes);
    return 0;
  };
  all.device.submit(stream, std::move(work));
  return 0;
}

int cuMemcpyAsync(uint64_t target, uint64_t source, size_t bytes, FakeStream* stream) {
  BEGIN("cuMemcpyAsync", true);
  return queueCopy(target, source, bytes, stream);
}

struct BatchAttributes {
  int order;
  int hints[4];
  unsigned int flags;
};
static_assert(sizeof(BatchAttributes) == 24, "as the driver has it");

static int copyBatch(uint64_t* targets, uint64_t* sources, size_t* sizes, size_t count,
                     BatchAttributes* attributes, size_t* indices, size_t attributeCount, size_t* failed,
                     FakeStream* stream) {
  if (count == 0 || stream == nullptr || attributeCount != 1 || indices[0] != 0 || attributes[0].order < 1 ||
      attributes[0].order > 3 || attributes[0].flags > 1) {
    return 1;
  }
  for (size_t i = 0; i < count; i++) {
    int result = queueCopy(targets[i], sources[i], sizes[i], stream);
    if (result != 0) {
      *failed = i;
      return result;
    }
  }
  return 0;
}

int cuMemcpyBatchAsync(uint64_t* targets, uint64_t* sources, size_t* sizes, size_t count,
                       BatchAttributes* attributes, size_t* indices, size_t attributeCount, size_t* failed,
                       FakeStream* stream) {
  BEGIN("cuMemcpyBatchAsync", true);
  if (failed == nullptr) return 1;
  return copyBatch(targets, sources, sizes, count, attributes, indices, attributeCount, failed, stream);
}

int cuMemcpyBatchAsync_v2(uint64_t* targets, uint64_t* sources, size_t* sizes, size_t count,
                          BatchAttributes* attributes, size_t* indices, size_t attributeCount,
                          FakeStream* stream) {
  BEGIN("cuMemcpyBatchAsync_v2", true);
  size_t failed = 0;
  return copyBatch(targets, sources, sizes, count, attributes, indices, attributeCount, &failed, stream);
}

int cuStreamCreate(FakeStream** stream, unsigned int flags) {
  BEGIN("cuStreamCreate", true);
  if (flags > 1) return 1;
  *stream = state().device.createStream();
  return 0;
}

int cuStreamDestroy_v2(FakeStream* stream) {
  BEGIN("cuStreamDestroy", true);
  return state().device.destroyStream(stream) ? 0 : 400;
}

int cuStreamSynchronize(FakeStream* stream) {
  BEGIN("cuStreamSynchronize", true);
  if (!state().device.isStream(stream)) return 400;
  state().device.synchronize(stream);
  return state().device.stickyError();
}

int cuEventCreate(FakeEvent** event, unsigned int flags) {
  BEGIN("cuEventCreate", true);
  if (flags > 3) return 1;
  *event = state().device.createEvent();
  return 0;
}

int cuEventRecord(FakeEvent* event, FakeStream* stream) {
  BEGIN("cuEventRecord", true);
  if (!state().device.isEvent(event) || !state().device.isStream(stream)) return 400;
  Work work;
  work.event = event;
  state().device.submit(stream, std::move(work));
  return 0;
}

int cuEventQuery(FakeEvent* event) {
  BEGIN("cuEventQuery", true);
  return state().device.isEvent(event) ? state().device.query(event) : 400;
}

int cuEventDestroy_v2(FakeEvent* event) {
  BEGIN("cuEventDestroy", true);
  return state().device.destroyEvent(event) ? 0 : 400;
}

int cuModuleLoadDataEx(Module** module, const void* image, unsigned int count, int* options, void** values) {
  BEGIN("cuModuleLoadDataEx", true);
  auto* made = new Module;
  std::string why;
  if (!parseModule(static_cast<const char*>(image), &made->entries, &why)) {
    delete made;
    std::fprintf(stderr, "fake CUDA: no module: %s\n", why.c_str());
    for (unsigned int i = 0; i < count; i++) {
      if (options[i] == 5) std::snprintf(static_cast<char*>(values[i]), 64, "%s", why.c_str());
    }
    return 218;
  }
  std::lock_guard<std::mutex> lock(state().mutex);
  state().modules.insert(made);
  *module = made;
  return 0;
}

int cuModuleUnload(Module* module) {
  BEGIN("cuModuleUnload", true);
  std::lock_guard<std::mutex> lock(state().mutex);
  if (state().modules.erase(module) == 0) return 400;
  delete module;
  return 0;
}

int cuModuleGetFunction(const Entry** function, Module* module, const char* name) {
  BEGIN("cuModuleGetFunction", true);
  auto found = module->entries.find(name);
  if (found == module->entries.end()) return 500;
  *function = &found->second;
  return 0;
}

int cuLaunchKernel(const Entry* function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                   unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes,
                   FakeStream* stream, void** parameters, void** extra) {
  BEGIN("cuLaunchKernel", true);
  State& all = state();
  if (gridX == 0 || gridY != 1 || gridZ != 1 || blockX == 0 || blockX > 1024 || blockY != 1 || blockZ != 1 ||
      sharedBytes != 0 || extra != nullptr || !all.device.isStream(stream)) {
    return 1;
  }
  auto launch = std::make_shared<Launch>();
  launch->entry = function;
  launch->grid = gridX;
  launch->threads = blockX;
  launch->parameters.resize(function->parametersBytes);
  for (size_t i = 0; i < function->parameterBytes.size(); i++) {
    std::memcpy(launch->parameters.data() + function->parameterOffsets[i], parameters[i],
                function->parameterBytes[i]);
  }
  Work work;
  work.run = [&all, launch] {
    LaunchMemory memory(all.memory);
    return run(*launch, memory);
  };
  all.device.submit(stream, std::move(work));
  return 0;
}

struct IpcHandle {
  unsigned char bytes[64];
};

int cuIpcGetMemHandle(IpcHandle* handle, uint64_t address) {
  BEGIN("cuIpcGetMemHandle", true);
  return state().memory.exported(address, handle->bytes) ? 0 : 1;
}

int cuIpcOpenMemHandle_v2(uint64_t* address, IpcHandle handle, unsigned int flags) {
  BEGIN("cuIpcOpenMemHandle", true);
  if (flags != 1) return 1;
  bool ownToo;
  {
    std::lock_guard<std::mutex> lock(state().mutex);
    ownToo = state().importOwn;
  }
  bool isOwn = false;
  *address = state().memory.import(handle.bytes, ownToo, &isOwn);
  return *address != 0 ? 0 : isOwn ? 201 : 1;
}

int cuIpcCloseMemHandle(uint64_t address) {
  BEGIN("cuIpcCloseMemHandle", true);
  uint64_t base = 0;
  size_t bytes = 0;
  state().memory.rangeOf(address, &base, &bytes);
  return release(address, bytes, [address] { return state().memory.closeImport(address); });
}

int cuMemGetAddressRange_v2(uint64_t* base, size_t* bytes, uint64_t address) {
  BEGIN("cuMemGetAddressRange", true);
  return state().memory.rangeOf(address, base, bytes) ? 0 : 1;
}

int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  State& all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  *function = nullptr;
  *status = 1;
  if (!all.search || flags != 0) return 1;
  std::string wanted = name;
  if (wanted == "cuMemcpyBatchAsync") {
    if (version >= 13000 && all.version >= 13000) {
      *function = reinterpret_cast<void*>(cuMemcpyBatchAsync_v2);
    } else if (version >= 12080 && all.version >= 12080) {
      *function = reinterpret_cast<void*>(cuMemcpyBatchAsync);
    }
    *status = *function == nullptr ? 2 : 0;
    return *function == nullptr ? 500 : 0;
  }
  static const std::map<std::string, void*> functions = {
#define F(base, exported) {base, reinterpret_cast<void*>(exported)}
      F("cuInit", cuInit),
      F("cuDriverGetVersion", cuDriverGetVersion),
      F("cuGetErrorName", cuGetErrorName),
      F("cuDeviceGetCount", cuDeviceGetCount),
      F("cuDeviceGet", cuDeviceGet),
      F("cuDeviceGetName", cuDeviceGetName),
      F("cuDeviceGetAttribute", cuDeviceGetAttribute),
      F("cuDeviceGetUuid", cuDeviceGetUuid),
      F("cuDeviceTotalMem", cuDeviceTotalMem_v2),
      F("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain),
      F("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease_v2),
      F("cuCtxSetCurrent", cuCtxSetCurrent),
      F("cuCtxPushCurrent", cuCtxPushCurrent_v2),
      F("cuCtxPopCurrent", cuCtxPopCurrent_v2),
      F("cuMemAlloc", cuMemAlloc_v2),
      F("cuMemFree", cuMemFree_v2),
      F("cuMemHostAlloc", cuMemHostAlloc),
      F("cuMemFreeHost", cuMemFreeHost),
      F("cuMemHostRegister", cuMemHostRegister_v2),
      F("cuMemHostUnregister", cuMemHostUnregister),
      F("cuMemHostGetDevicePointer", cuMemHostGetDevicePointer_v2),
      F("cuMemsetD8Async", cuMemsetD8Async),
      F("cuMemcpyAsync", cuMemcpyAsync),
      F("cuStreamCreate", cuStreamCreate),
      F("cuStreamDestroy", cuStreamDestroy_v2),
      F("cuStreamSynchronize", cuStreamSynchronize),
      F("cuEventCreate", cuEventCreate),
      F("cuEventRecord", cuEventRecord),
      F("cuEventQuery", cuEventQuery),
      F("cuEventDestroy", cuEventDestroy_v2),
      F("cuModuleLoadDataEx", cuModuleLoadDataEx),
      F("cuModuleUnload", cuModuleUnload),
      F("cuModuleGetFunction", cuModuleGetFunction),
      F("cuLaunchKernel", cuLaunchKernel),
      F("cuIpcGetMemHandle", cuIpcGetMemHandle),
      F("cuIpcOpenMemHandle", cuIpcOpenMemHandle_v2),
      F("cuIpcCloseMemHandle", cuIpcCloseMemHandle),
      F("cuMemGetAddressRange", cuMemGetAddressRange_v2)};
#undef F
  auto found = functions.find(wanted);
  if (found == functions.end()) return 500;
  *function = found->second;
  *status = 0;
  return 0;
}

}  // extern "C"
