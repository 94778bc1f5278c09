// JNI of io.dynamo.natives.HangUps, which answers for the handle: it is the address of what open() made,
// and nobody uses it after close().

#include "../core/hang_ups.h"

#include <cerrno>
#include <vector>

#include "io_dynamo_natives_HangUps.h"

using dynamo::Connection;
using dynamo::Endpoint;
using dynamo::HangUps;

namespace {

constexpr jsize kInts = io_dynamo_natives_HangUps_CONNECTION_INTS;

HangUps& at(jlong handle) { return *reinterpret_cast<HangUps*>(static_cast<uintptr_t>(handle)); }

/// A port and an address of four big-endian words.
Endpoint endpoint(uint32_t port, const jint* words) {
  Endpoint end{static_cast<uint16_t>(port), {}};
  for (size_t i = 0; i < 16; i++) {
    end.address[i] = static_cast<uint8_t>(static_cast<uint32_t>(words[i / 4]) >> (24 - 8 * (i % 4)));
  }
  return end;
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_HangUps_open(JNIEnv*, jclass) {
  try {
    int error = 0;
    auto opened = HangUps::open(&error);
    return opened == nullptr ? -jlong{error}
                             : static_cast<jlong>(reinterpret_cast<uintptr_t>(opened.release()));
  } catch (...) {
    return -ENOMEM;
  }
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_HangUps_watch(JNIEnv* env, jclass, jlong handle,
                                                            jintArray connections, jlongArray ids,
                                                            jint count) {
  try {
    if (count < 0 || count > env->GetArrayLength(ids) || count > env->GetArrayLength(connections) / kInts) {
      return -EINVAL;
    }
    auto size = static_cast<size_t>(count);
    std::vector<jint> flat(size * kInts);
    std::vector<jlong> names(size);
    env->GetIntArrayRegion(connections, 0, count * kInts, flat.data());
    env->GetLongArrayRegion(ids, 0, count, names.data());
    bool scanned = false;
    jint found = 0;
    for (size_t i = 0; i < size; i++) {
      const jint* ints = &flat[i * kInts];
      Connection connection{endpoint(static_cast<uint32_t>(ints[0]) >> 16, ints + 1),
                            endpoint(static_cast<uint32_t>(ints[0]) & 0xffff, ints + 5),
                            static_cast<uint32_t>(ints[9])};
      if (at(handle).watch(connection, static_cast<uint64_t>(names[i]), &scanned)) found++;
    }
    return found;
  } catch (...) {
    return -ENOMEM;
  }
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_HangUps_await(JNIEnv* env, jclass, jlong handle,
                                                            jint timeoutMillis, jlongArray ids) {
  constexpr jsize kRoom = 64;
  uint64_t gone[kRoom];
  jsize room = env->GetArrayLength(ids) < kRoom ? env->GetArrayLength(ids) : kRoom;
  int count = at(handle).await(timeoutMillis, gone, static_cast<size_t>(room));
  if (count > 0) env->SetLongArrayRegion(ids, 0, count, reinterpret_cast<jlong*>(gone));
  return count;
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_HangUps_wake(JNIEnv*, jclass, jlong handle) {
  at(handle).wake();
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_HangUps_close(JNIEnv*, jclass, jlong handle) {
  delete &at(handle);
}

}  // extern "C"
