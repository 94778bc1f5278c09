#ifndef DYNAMO_JNI_TEXTS_H_
#define DYNAMO_JNI_TEXTS_H_

#include <jni.h>

#include <string>
#include <utility>
#include <vector>

namespace dynamo::jni {

constexpr jsize kLongestWord = 4096;  // bytes of a path, a name or a parameter

/// Copies the bytes of an array. False when it is null or longer than `most`; then `*text` is as before.
inline bool read(JNIEnv* env, jbyteArray from, jsize most, std::string* text) {
  jsize length = from == nullptr ? most + 1 : env->GetArrayLength(from);
  if (length > most) return false;
  text->resize(static_cast<size_t>(length));
  env->GetByteArrayRegion(from, 0, length, reinterpret_cast<jbyte*>(text->data()));
  return true;
}

/// Like read(), for what a library takes as a C string.
inline bool readWord(JNIEnv* env, jbyteArray from, std::string* text) {
  return read(env, from, kLongestWord, text) && text->find('\0') == std::string::npos;
}

/// Appends each word of an array. False when there are more than `most`, or one is no word.
inline bool readWords(JNIEnv* env, jobjectArray from, jsize most, std::vector<std::string>* words) {
  jsize length = env->GetArrayLength(from);
  if (length > most) return false;
  for (jsize i = 0; i < length; i++) {
    auto one = static_cast<jbyteArray>(env->GetObjectArrayElement(from, i));
    std::string word;
    bool isRead = readWord(env, one, &word);
    if (one != nullptr) env->DeleteLocalRef(one);
    if (!isRead) return false;
    words->push_back(std::move(word));
  }
  return true;
}

}  // namespace dynamo::jni

#endif  // DYNAMO_JNI_TEXTS_H_
