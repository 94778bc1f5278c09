// JNI of io.dynamo.natives.CudaDevices.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../backend/cuda/cuda_probe.h"
#include "../backend/cuda/device_copies.h"
#include "../backend/cuda/device_memory.h"
#include "../core/json.h"
#include "calls.h"
#include "handles.h"
#include "io_dynamo_natives_CudaDevices.h"
#include "permutations.h"

using dynamo::RegionTable;
using dynamo::Status;
using dynamo::cuda::Device;
using dynamo::cuda::DeviceCopies;
using dynamo::cuda::Driver;
using dynamo::cuda::IpcHandle;
using dynamo::jni::code;
using dynamo::jni::guarded;
using dynamo::jni::Handles;

RegionTable& dynamo::jni::deviceTable() {
  static RegionTable& only = *new RegionTable(RegionTable::Kind::kDevice);
  return only;
}

namespace {

using dynamo::jni::deviceTable;

constexpr jsize kLongestPath = 4096;
constexpr size_t kLongs = 3;  // of a completion

Handles<DeviceCopies>& devices() {
  static Handles<DeviceCopies>& only = *new Handles<DeviceCopies>(1024);
  return only;
}

uint64_t nowNanos() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

/// Runs `use(copies)` for a device, or answers that its handle is stale.
template <typename Use>
jlong with(jlong device, Use use) {
  return guarded([&]() -> jlong {
    auto at = devices().find(device);
    return at == nullptr ? code(Status::kStale) : use(*at);
  });
}

jlong handleOr(Status status, uint64_t handle) {
  return status == Status::kOk ? static_cast<jlong>(handle) : code(status);
}

/// A text in ASCII for Java; null when memory ran out.
template <typename Make>
jstring text(JNIEnv* env, jlong device, Make make) noexcept {
  try {
    auto at = devices().find(device);
    return at == nullptr ? nullptr : env->NewStringUTF(make(at->device()).c_str());
  } catch (...) {
    return nullptr;
  }
}

std::string ascii(const std::string& text) {
  std::string out;
  for (char c : text) out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

std::string describe(const Device& device) {
  const Device::Facts& facts = device.facts();
  const auto& call = device.functions();
  const char* batches = call.memcpyPlainBatchAsync != nullptr ? "13.0"
                        : call.memcpyBatchAsync != nullptr    ? "12.8"
                                                              : "";
  return "{\"name\":" + dynamo::quoted(facts.name) + ",\"uuid\":" + dynamo::quoted(facts.uuid) +
         ",\"bytes\":" + std::to_string(facts.bytes) + ",\"compute_capability\":\"" +
         std::to_string(facts.major) + "." + std::to_string(facts.minor) +
         "\",\"multiprocessors\":" + std::to_string(facts.multiprocessors) +
         ",\"driver_version\":" + std::to_string(device.driver().version()) + ",\"batches\":\"" + batches +
         "\",\"imports\":" + (call.ipcOpenMemHandle == nullptr ? "false" : "true") +
         ",\"kernels\":" + (facts.whyNoKernels.empty() ? "true" : "false") +
         ",\"why_no_kernels\":" + dynamo::quoted(facts.whyNoKernels) + "}";
}

jlong open(const std::string& library, int index, std::string* why) {
  auto driver = library.empty() ? dynamo::cuda::systemDriver(why) : Driver::open(library, why);
  if (driver == nullptr) return code(Status::kUnsupported);
  std::shared_ptr<Device> device;
  Status status = Device::open(std::move(driver), index, &device, why);
  if (status != Status::kOk) return code(status);
  std::unique_ptr<DeviceCopies> opened;
  status = DeviceCopies::open(device, dynamo::jni::table(), deviceTable(), &opened);
  if (status != Status::kOk) {
    *why = device->lastFailure();
    return code(status);
  }
  jlong handle = devices().add(std::move(opened));
  if (handle < 0) *why = "1024 devices are open";
  return handle < 0 ? code(Status::kBusy) : handle;
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_CudaDevices_open(JNIEnv* env, jclass, jbyteArray library,
                                                                jint index, jobjectArray why) {
  return guarded([&] {
    std::string path;
    if (library != nullptr) {
      jsize length = env->GetArrayLength(library);
      if (length == 0 || length > kLongestPath) return code(Status::kInvalid);
      path.resize(static_cast<size_t>(length));
      env->GetByteArrayRegion(library, 0, length, reinterpret_cast<jbyte*>(path.data()));
      if (path.find('\0') != std::string::npos) return code(Status::kInvalid);
    }
    if (env->GetArrayLength(why) < 1) return code(Status::kInvalid);
    std::string reason;
    jlong handle = open(path, index, &reason);
    if (handle < 0) {
      jstring words = env->NewStringUTF(ascii(reason).c_str());
      if (words != nullptr) env->SetObjectArrayElement(why, 0, words);
    }
    return handle;
  });
}

JNIEXPORT jstring JNICALL Java_io_dynamo_natives_CudaDevices_describe(JNIEnv* env, jclass, jlong device) {
  return text(env, device, describe);
}

JNIEXPORT jstring JNICALL Java_io_dynamo_natives_CudaDevices_lastFailure(JNIEnv* env, jclass, jlong device) {
  return text(env, device, [](const Device& at) { return ascii(at.lastFailure()); });
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_CudaDevices_allocate(JNIEnv*, jclass, jlong device,
                                                                    jlong bytes) {
  return with(device, [&](DeviceCopies& at) {
    if (bytes <= 0) return code(Status::kInvalid);
    uint64_t handle = 0;
    Status status = allocateOnDevice(at.device(), deviceTable(), static_cast<uint64_t>(bytes), &handle);
    return handleOr(status, handle);
  });
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_CudaDevices_allocatePinned(JNIEnv*, jclass, jlong device,
                                                                          jlong bytes,
                                                                          jboolean combinesWrites) {
  return with(device, [&](DeviceCopies& at) {
    if (bytes <= 0) return code(Status::kInvalid);
    uint64_t handle = 0;
    Status status = allocatePinned(at.device(), dynamo::jni::table(), static_cast<uint64_t>(bytes),
                                   combinesWrites == JNI_TRUE, &handle);
    return handleOr(status, handle);
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_CudaDevices_register(JNIEnv*, jclass, jlong device,
                                                                   jlong region) {
  return static_cast<jint>(with(device, [&](DeviceCopies& at) {
    return code(registerRegion(at.device(), dynamo::jni::table(), static_cast<uint64_t>(region)));
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_CudaDevices_release(JNIEnv*, jclass, jlong region) {
  return static_cast<jint>(
      guarded([&] { return code(deviceTable().release(static_cast<uint64_t>(region))); }));
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_CudaDevices_heldBytes(JNIEnv*, jclass) {
  return guarded([&] { return static_cast<jlong>(deviceTable().heldBytes()); });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_CudaDevices_export(JNIEnv* env, jclass, jlong device,
                                                                 jlong region, jbyteArray into) {
  return static_cast<jint>(with(device, [&](DeviceCopies& at) {
    IpcHandle name{};
    if (env->GetArrayLength(into) != sizeof name) return code(Status::kInvalid);
    Status status = exportRegion(at.device(), deviceTable(), static_cast<uint64_t>(region), &name);
    if (status == Status::kOk) {
      env->SetByteArrayRegion(into, 0, sizeof name, reinterpret_cast<const jbyte*>(name.bytes));
    }
    return code(status);
  }));
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_CudaDevices_importMemory(JNIEnv* env, jclass, jlong device,
                                                                        jbyteArray name, jlong bytes,
                                                                        jlong leaseEnd) {
  return with(device, [&](DeviceCopies& at) {
    IpcHandle exported{};
    if (bytes <= 0 || env->GetArrayLength(name) != sizeof exported) return code(Status::kInvalid);
    env->GetByteArrayRegion(name, 0, sizeof exported, reinterpret_cast<jbyte*>(exported.bytes));
    uint64_t handle = 0;
    Status status = importRegion(at.device(), deviceTable(), exported, static_cast<uint64_t>(bytes),
                                 static_cast<uint64_t>(leaseEnd), &handle);
    return handleOr(status, handle);
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_CudaDevices_renew(JNIEnv*, jclass, jlong region,
                                                                jlong leaseEnd) {
  return static_cast<jint>(guarded([&] {
    return code(dynamo::cuda::renewRegion(deviceTable(), static_cast<uint64_t>(region), nowNanos(),
                                          static_cast<uint64_t>(leaseEnd)));
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_CudaDevices_submit(JNIEnv* env, jclass, jlong device,
                                                                 jlong ticket, jlong source, jlong target,
                                                                 jboolean onboard, jlong deadline,
                                                                 jlongArray triples) {
  return static_cast<jint>(with(device, [&](DeviceCopies& at) {
    jsize longs = env->GetArrayLength(triples);
    if (longs % 3 != 0) return code(Status::kInvalid);
    // A copy of our own: what is checked must be what is used, whatever Java does to its array meanwhile.
    std::vector<dynamo::CopyRange> ranges(static_cast<size_t>(longs) / 3);
    env->GetLongArrayRegion(triples, 0, longs, reinterpret_cast<jlong*>(ranges.data()));
    return code(
        at.submit({static_cast<uint64_t>(ticket), onboard == JNI_TRUE, static_cast<uint64_t>(deadline),
                   static_cast<uint64_t>(source), static_cast<uint64_t>(target)},
                  std::move(ranges)));
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_CudaDevices_permute(JNIEnv* env, jclass, jlong device,
                                                                  jlong ticket, jlong source, jlong target,
                                                                  jboolean onboard, jlong deadline,
                                                                  jlongArray shape, jlongArray pairs) {
  return static_cast<jint>(with(device, [&](DeviceCopies& at) {
    dynamo::BlockShape read{};
    std::vector<dynamo::BlockPair> blocks;
    if (!dynamo::jni::readPermutation(env, shape, pairs, &read, &blocks)) return code(Status::kInvalid);
    return code(at.submitPermutation(
        {static_cast<uint64_t>(ticket), onboard == JNI_TRUE, static_cast<uint64_t>(deadline),
         static_cast<uint64_t>(source), static_cast<uint64_t>(target)},
        read, std::move(blocks)));
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_CudaDevices_await(JNIEnv* env, jclass, jlong device,
                                                                jlong maxNanos, jlongArray into) {
  return static_cast<jint>(with(device, [&](DeviceCopies& at) {
    if (static_cast<size_t>(env->GetArrayLength(into)) < kLongs * DeviceCopies::kMostRequests) {
      return code(Status::kInvalid);
    }
    std::vector<DeviceCopies::Completion> ended;
    Status status = at.await(maxNanos < 0 ? 0 : static_cast<uint64_t>(maxNanos), &ended);
    if (status != Status::kOk) return code(status);
    std::vector<jlong> flat;
    flat.reserve(kLongs * ended.size());
    for (const auto& one : ended) {
      flat.push_back(static_cast<jlong>(one.ticket));
      flat.push_back(code(one.status));
      flat.push_back(static_cast<jlong>(one.bytes));
    }
    env->SetLongArrayRegion(into, 0, static_cast<jsize>(flat.size()), flat.data());
    return static_cast<jlong>(ended.size());
  }));
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_CudaDevices_cancel(JNIEnv*, jclass, jlong device,
                                                                 jlong ticket) {
  with(device, [&](DeviceCopies& at) {
    at.cancel(static_cast<uint64_t>(ticket));
    return jlong{0};
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_CudaDevices_counts(JNIEnv* env, jclass, jlong device,
                                                                 jlongArray into) {
  return static_cast<jint>(with(device, [&](DeviceCopies& at) {
    if (env->GetArrayLength(into) != 6) return code(Status::kInvalid);
    auto counts = at.counts();
    const jlong values[] = {static_cast<jlong>(counts.completed), static_cast<jlong>(counts.failed),
                            static_cast<jlong>(counts.bytes),     static_cast<jlong>(counts.singles),
                            static_cast<jlong>(counts.batches),   static_cast<jlong>(counts.kernels)};
    env->SetLongArrayRegion(into, 0, 6, values);
    return code(Status::kOk);
  }));
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_CudaDevices_close(JNIEnv*, jclass, jlong device,
                                                                jlong maxNanos) {
  with(device, [&](DeviceCopies& at) {
    at.close(maxNanos < 0 ? 0 : static_cast<uint64_t>(maxNanos));
    return jlong{0};
  });
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_CudaDevices_forget(JNIEnv*, jclass, jlong device) {
  guarded([&] {
    devices().remove(device);
    return jlong{0};
  });
}

}  // extern "C"
