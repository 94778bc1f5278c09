// JNI of io.dynamo.natives.NativeTransfer; this folder alone knows JNI. Arguments are checked here against
// the Java objects that they came with; ranges and handles are checked in core. No exception leaves a
// function: the data path answers with a Status.

#include <algorithm>
#include <vector>

#include "../core/copy.h"
#include "../core/crc32c.h"
#include "../core/probe.h"
#include "../core/regions.h"
#include "../core/status.h"
#include "calls.h"
#include "io_dynamo_natives_NativeTransfer.h"
#include "permutations.h"

using dynamo::RegionTable;
using dynamo::Status;

RegionTable& dynamo::jni::table() {
  static RegionTable& only = *new RegionTable;
  return only;
}

namespace {

using dynamo::jni::code;
using dynamo::jni::guarded;
using dynamo::jni::table;

bool within(jint position, jint length, jlong size) {
  return position >= 0 && length >= 0 && jlong{position} + length <= size;
}

/// An array is copied by the JVM in pieces, so that a large one does not hold up a safepoint.
constexpr jint kArrayPiece = 1 << 20;

/// Runs `move(address in the region, address in Java, length)` for a range of a direct buffer.
Status withDirect(JNIEnv* env, jlong handle, jlong offset, jobject buffer, jint position, jint length,
                  void (*move)(std::byte* region, std::byte* java, size_t length)) {
  auto* address = static_cast<std::byte*>(env->GetDirectBufferAddress(buffer));
  if (address == nullptr || !within(position, length, env->GetDirectBufferCapacity(buffer))) {
    return Status::kInvalid;
  }
  RegionTable::Pin pin;
  Status pinned = table().pin(static_cast<uint64_t>(handle), &pin);
  if (pinned != Status::kOk) return pinned;
  std::byte* region = pin.at(static_cast<uint64_t>(offset), static_cast<uint64_t>(length));
  if (region == nullptr) return Status::kRange;
  move(region, address + position, static_cast<size_t>(length));
  return Status::kOk;
}

template <typename Move>
Status withArray(JNIEnv* env, jlong handle, jlong offset, jbyteArray array, jint position, jint length,
                 Move move) {
  if (!within(position, length, env->GetArrayLength(array))) return Status::kInvalid;
  RegionTable::Pin pin;
  Status pinned = table().pin(static_cast<uint64_t>(handle), &pin);
  if (pinned != Status::kOk) return pinned;
  std::byte* region = pin.at(static_cast<uint64_t>(offset), static_cast<uint64_t>(length));
  if (region == nullptr) return Status::kRange;
  for (jint done = 0; done < length;) {
    jint piece = std::min(kArrayPiece, length - done);
    move(reinterpret_cast<jbyte*>(region + done), position + done, piece);
    done += piece;
  }
  return Status::kOk;
}

}  // namespace

extern "C" {

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM*, void*) {
  dynamo::jni::deviceTable().releaseAll();
  table().releaseAll();
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_NativeTransfer_allocate(JNIEnv*, jclass, jlong bytes) {
  return guarded([&] {
    uint64_t handle = 0;
    Status status = bytes < 0 ? Status::kInvalid : table().allocate(static_cast<uint64_t>(bytes), &handle);
    return status == Status::kOk ? static_cast<jlong>(handle) : code(status);
  });
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_NativeTransfer_allocateShared(JNIEnv*, jclass, jlong bytes) {
  return guarded([&] {
    uint64_t handle = 0;
    Status status =
        bytes < 0 ? Status::kInvalid : table().allocateShared(static_cast<uint64_t>(bytes), &handle);
    return status == Status::kOk ? static_cast<jlong>(handle) : code(status);
  });
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_NativeTransfer_allocateLocked(JNIEnv* env, jclass, jlong bytes,
                                                                             jintArray refusal) {
  return guarded([&] {
    if (bytes < 0 || env->GetArrayLength(refusal) < 1) return code(Status::kInvalid);
    uint64_t handle = 0;
    jint error = 0;
    Status status = table().allocateLocked(static_cast<uint64_t>(bytes), &handle, &error);
    if (status != Status::kOk) return code(status);
    env->SetIntArrayRegion(refusal, 0, 1, &error);
    return static_cast<jlong>(handle);
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeTransfer_freeze(JNIEnv*, jclass, jlong handle) {
  return static_cast<jint>(guarded([&] { return code(table().freeze(static_cast<uint64_t>(handle))); }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeTransfer_release(JNIEnv*, jclass, jlong handle) {
  return static_cast<jint>(guarded([&] { return code(table().release(static_cast<uint64_t>(handle))); }));
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_NativeTransfer_heldBytes(JNIEnv*, jclass) {
  return guarded([&] { return static_cast<jlong>(table().heldBytes()); });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeTransfer_write(JNIEnv* env, jclass, jlong handle,
                                                                   jlong offset, jobject from, jint position,
                                                                   jint length) {
  return static_cast<jint>(guarded([&] {
    return code(
        withDirect(env, handle, offset, from, position, length,
                   [](std::byte* region, std::byte* java, size_t n) { std::copy_n(java, n, region); }));
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeTransfer_read(JNIEnv* env, jclass, jlong handle,
                                                                  jlong offset, jobject into, jint position,
                                                                  jint length) {
  return static_cast<jint>(guarded([&] {
    return code(
        withDirect(env, handle, offset, into, position, length,
                   [](std::byte* region, std::byte* java, size_t n) { std::copy_n(region, n, java); }));
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeTransfer_writeArray(JNIEnv* env, jclass, jlong handle,
                                                                        jlong offset, jbyteArray from,
                                                                        jint position, jint length) {
  return static_cast<jint>(guarded([&] {
    return code(withArray(env, handle, offset, from, position, length, [&](jbyte* region, jint at, jint n) {
      env->GetByteArrayRegion(from, at, n, region);
    }));
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeTransfer_readArray(JNIEnv* env, jclass, jlong handle,
                                                                       jlong offset, jbyteArray into,
                                                                       jint position, jint length) {
  return static_cast<jint>(guarded([&] {
    return code(withArray(env, handle, offset, into, position, length, [&](jbyte* region, jint at, jint n) {
      env->SetByteArrayRegion(into, at, n, region);
    }));
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeTransfer_copy(JNIEnv* env, jclass, jlong source,
                                                                  jlong target, jlongArray triples) {
  return static_cast<jint>(guarded([&] {
    static_assert(sizeof(dynamo::CopyRange) == 3 * sizeof(jlong), "a range is a triple of longs");
    jsize longs = env->GetArrayLength(triples);
    if (longs % 3 != 0) return code(Status::kInvalid);
    // A copy of our own: what is checked must be what is used, whatever Java does to its array meanwhile.
    std::vector<dynamo::CopyRange> ranges(static_cast<size_t>(longs) / 3);
    env->GetLongArrayRegion(triples, 0, longs, reinterpret_cast<jlong*>(ranges.data()));
    return code(dynamo::copyRanges(table(), static_cast<uint64_t>(source), static_cast<uint64_t>(target),
                                   ranges.data(), ranges.size()));
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeTransfer_permute(JNIEnv* env, jclass, jlong source,
                                                                     jlong target, jlongArray shape,
                                                                     jlongArray pairs) {
  return static_cast<jint>(guarded([&] {
    dynamo::BlockShape read{};
    std::vector<dynamo::BlockPair> blocks;
    if (!dynamo::jni::readPermutation(env, shape, pairs, &read, &blocks)) return code(Status::kInvalid);
    return code(dynamo::permuteBlocks(table(), static_cast<uint64_t>(source), static_cast<uint64_t>(target),
                                      read, blocks));
  }));
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_NativeTransfer_crc32c(JNIEnv*, jclass, jlong handle,
                                                                     jlong offset, jlong length) {
  return guarded([&] {
    RegionTable::Pin pin;
    Status pinned = table().pin(static_cast<uint64_t>(handle), &pin);
    if (pinned != Status::kOk) return code(pinned);
    const std::byte* at = pin.at(static_cast<uint64_t>(offset), static_cast<uint64_t>(length));
    if (at == nullptr) return code(Status::kRange);
    return jlong{dynamo::crc32c(at, static_cast<size_t>(length))};
  });
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_NativeTransfer_hold(JNIEnv*, jclass, jlong handle) {
  return guarded([&] {
    std::byte* base = nullptr;
    Status held = table().hold(static_cast<uint64_t>(handle), &base);
    return held == Status::kOk ? static_cast<jlong>(reinterpret_cast<uintptr_t>(base)) : code(held);
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeTransfer_letGo(JNIEnv*, jclass, jlong handle) {
  return static_cast<jint>(guarded([&] { return code(table().letGo(static_cast<uint64_t>(handle))); }));
}

JNIEXPORT jstring JNICALL Java_io_dynamo_natives_NativeTransfer_probe(JNIEnv* env, jclass) {
  try {
    return env->NewStringUTF(dynamo::probeJson().c_str());
  } catch (...) {
    return nullptr;
  }
}

}  // extern "C"
