#ifndef DYNAMO_JNI_PERMUTATIONS_H_
#define DYNAMO_JNI_PERMUTATIONS_H_

#include <jni.h>

#include <vector>

#include "../core/permutation.h"

namespace dynamo::jni {

/// Copies a permutation out of Java's arrays: what is checked must be what is used, whatever Java does to
/// them meanwhile. Returns false for arrays of a wrong length.
inline bool readPermutation(JNIEnv* env, jlongArray shape, jlongArray pairs, BlockShape* read,
                            std::vector<BlockPair>* blocks) {
  static_assert(sizeof(BlockShape) == 13 * sizeof(jlong), "a shape is 13 longs");
  static_assert(sizeof(BlockPair) == 2 * sizeof(jlong), "a block is a pair of longs");
  jsize longs = env->GetArrayLength(pairs);
  if (env->GetArrayLength(shape) != 13 || longs % 2 != 0) return false;
  env->GetLongArrayRegion(shape, 0, 13, reinterpret_cast<jlong*>(read));
  blocks->resize(static_cast<size_t>(longs) / 2);
  env->GetLongArrayRegion(pairs, 0, longs, reinterpret_cast<jlong*>(blocks->data()));
  return true;
}

}  // namespace dynamo::jni

#endif  // DYNAMO_JNI_PERMUTATIONS_H_
