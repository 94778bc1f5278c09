#ifndef DYNAMO_JNI_FAULTS_H_
#define DYNAMO_JNI_FAULTS_H_

#include <jni.h>

#include <vector>

#include "../core/faults.h"
#include "../core/status.h"

namespace dynamo::jni {

/// Reads the plan of a context that a test opens; an empty array is no plan.
inline Status readFaults(JNIEnv* env, jlongArray words, FaultPlan* plan) {
  static_assert(sizeof(int64_t) == sizeof(jlong), "words cross as they are");
  jsize count = env->GetArrayLength(words);
  if (static_cast<size_t>(count) > FaultPlan::kWords * FaultPlan::kMostFaults) return Status::kInvalid;
  std::vector<jlong> read(static_cast<size_t>(count));
  env->GetLongArrayRegion(words, 0, count, read.data());
  return FaultPlan::read(reinterpret_cast<const int64_t*>(read.data()), read.size(), plan);
}

}  // namespace dynamo::jni

#endif  // DYNAMO_JNI_FAULTS_H_
