// JNI of io.dynamo.natives.DiskSpaces.

#include <memory>
#include <string>
#include <vector>

#include "../core/disk_space.h"
#include "calls.h"
#include "faults.h"
#include "handles.h"
#include "io_dynamo_natives_DiskSpaces.h"

using dynamo::DiskFile;
using dynamo::DiskIo;
using dynamo::DiskSpace;
using dynamo::FaultPlan;
using dynamo::Status;
using dynamo::jni::code;
using dynamo::jni::guarded;
using dynamo::jni::Handles;

namespace {

constexpr jsize kLongestFolder = 4096;
constexpr size_t kLongs = 4;  // of a completion

Handles<DiskSpace>& spaces() {
  static Handles<DiskSpace>& only = *new Handles<DiskSpace>(1024);
  return only;
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_DiskSpaces_open(JNIEnv* env, jclass, jbyteArray folder,
                                                               jlong bytes, jboolean cached, jboolean threads,
                                                               jlongArray faults, jintArray error) {
  return guarded([&] {
    jsize length = env->GetArrayLength(folder);
    if (bytes <= 0 || length > kLongestFolder || env->GetArrayLength(error) != 1) {
      return code(Status::kInvalid);
    }
    DiskSpace::Options options{std::string(static_cast<size_t>(length), '\0'), static_cast<uint64_t>(bytes),
                               cached == JNI_TRUE ? DiskFile::Cache::kUsed : DiskFile::Cache::kBypassed,
                               threads == JNI_TRUE ? DiskIo::Way::kThreads : DiskIo::Way::kBest, FaultPlan()};
    env->GetByteArrayRegion(folder, 0, length, reinterpret_cast<jbyte*>(options.folder.data()));
    if (options.folder.find('\0') != std::string::npos) return code(Status::kInvalid);
    Status status = dynamo::jni::readFaults(env, faults, &options.faults);
    if (status != Status::kOk) return code(status);
    std::unique_ptr<DiskSpace> opened;
    int why = 0;
    status = DiskSpace::open(dynamo::jni::table(), std::move(options), &opened, &why);
    const jint number = why;
    env->SetIntArrayRegion(error, 0, 1, &number);
    if (status != Status::kOk) return code(status);
    jlong handle = spaces().add(std::move(opened));
    return handle < 0 ? code(Status::kBusy) : handle;
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_DiskSpaces_describe(JNIEnv* env, jclass, jlong space,
                                                                  jlongArray into) {
  return static_cast<jint>(guarded([&] {
    auto at = spaces().find(space);
    if (at == nullptr) return code(Status::kStale);
    const jlong values[] = {
        at->way() == DiskIo::Way::kRing ? 1 : 0, at->file().cache() == DiskFile::Cache::kBypassed ? 1 : 0,
        static_cast<jlong>(at->file().offsetAlignment()), static_cast<jlong>(at->file().memoryAlignment())};
    if (env->GetArrayLength(into) != 4) return code(Status::kInvalid);
    env->SetLongArrayRegion(into, 0, 4, values);
    return code(Status::kOk);
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_DiskSpaces_submit(JNIEnv*, jclass, jlong space, jlong ticket,
                                                                jboolean write, jlong region,
                                                                jlong regionOffset, jlong offset, jlong bytes,
                                                                jlong deadline) {
  return static_cast<jint>(guarded([&] {
    auto at = spaces().find(space);
    if (at == nullptr) return code(Status::kStale);
    return code(at->submit(static_cast<uint64_t>(ticket), write == JNI_TRUE,
                           {static_cast<uint64_t>(region), static_cast<uint64_t>(regionOffset),
                            static_cast<uint64_t>(offset), static_cast<uint64_t>(bytes)},
                           static_cast<uint64_t>(deadline)));
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_DiskSpaces_await(JNIEnv* env, jclass, jlong space,
                                                               jlong maxNanos, jlongArray into) {
  return static_cast<jint>(guarded([&] {
    auto at = spaces().find(space);
    if (at == nullptr) return code(Status::kStale);
    if (static_cast<size_t>(env->GetArrayLength(into)) < kLongs * DiskIo::kMostRequests) {
      return code(Status::kInvalid);
    }
    std::vector<DiskIo::Completion> ended;
    Status status = at->await(maxNanos < 0 ? 0 : static_cast<uint64_t>(maxNanos), &ended);
    if (status != Status::kOk) return code(status);
    std::vector<jlong> flat;
    flat.reserve(kLongs * ended.size());
    for (const auto& one : ended) {
      flat.push_back(static_cast<jlong>(one.ticket));
      flat.push_back(code(one.status));
      flat.push_back(static_cast<jlong>(one.bytes));
      flat.push_back(one.error);
    }
    env->SetLongArrayRegion(into, 0, static_cast<jsize>(flat.size()), flat.data());
    return static_cast<jlong>(ended.size());
  }));
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_DiskSpaces_cancel(JNIEnv*, jclass, jlong space, jlong ticket) {
  guarded([&] {
    auto at = spaces().find(space);
    if (at != nullptr) at->cancel(static_cast<uint64_t>(ticket));
    return jlong{0};
  });
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_DiskSpaces_close(JNIEnv*, jclass, jlong space) {
  guarded([&] {
    auto at = spaces().find(space);
    if (at != nullptr) at->close();
    return jlong{0};
  });
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_DiskSpaces_forget(JNIEnv*, jclass, jlong space) {
  guarded([&] {
    spaces().remove(space);
    return jlong{0};
  });
}

}  // extern "C"
