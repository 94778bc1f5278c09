#ifndef DYNAMO_JNI_CALLS_H_
#define DYNAMO_JNI_CALLS_H_

#include <jni.h>

#include <new>

#include "../core/regions.h"
#include "../core/status.h"

namespace dynamo::jni {

/// The regions of this process. Never destroyed: at its exit other threads may still be in here.
RegionTable& table();

/// The regions of all devices, likewise.
RegionTable& deviceTable();

constexpr jlong code(Status status) { return static_cast<jlong>(status); }

/// Runs the body of a function; no exception leaves it.
template <typename Body>
jlong guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return code(Status::kNoMemory);
  } catch (...) {
    return code(Status::kBackend);
  }
}

}  // namespace dynamo::jni

#endif  // DYNAMO_JNI_CALLS_H_
