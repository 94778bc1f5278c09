// JNI of io.dynamo.natives.NativeNixl.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../backend/nixl/agent.h"
#include "../backend/nixl/library.h"
#include "calls.h"
#include "handles.h"
#include "io_dynamo_natives_NativeNixl.h"
#include "texts.h"

using dynamo::Status;
using dynamo::jni::code;
using dynamo::jni::guarded;
using dynamo::jni::Handles;
using dynamo::jni::kLongestWord;
using dynamo::jni::read;
using dynamo::jni::readWord;
using dynamo::jni::readWords;
using dynamo::nixl::Agent;
using dynamo::nixl::AgentPlan;
using dynamo::nixl::Event;
using dynamo::nixl::Piece;

namespace {

constexpr jsize kMostTexts = 1024;              // of one list
constexpr jsize kMostMetadataBytes = 16 << 20;  // of a peer
constexpr jsize kPieceLongs = 5;                // registration, local, length, remote, device there
constexpr jsize kEventLongs = 4;                // ticket, status, code, number

Handles<Agent>& agents() {
  static Handles<Agent>& only = *new Handles<Agent>(256);
  return only;
}

/// Backends from name, count of parameters, and a key and a value for each; false when words are missing.
bool readBackends(const std::vector<std::string>& words, std::vector<AgentPlan::Backend>* backends) {
  for (size_t i = 0; i < words.size();) {
    AgentPlan::Backend backend{words[i++], {}};
    if (i == words.size()) return false;
    size_t end = i + 1 + 2 * static_cast<size_t>(std::atoi(words[i].c_str()));
    if (end > words.size()) return false;
    for (i++; i < end; i += 2) backend.parameters.emplace_back(words[i], words[i + 1]);
    backends->push_back(std::move(backend));
  }
  return true;
}

template <typename What>
jint submit(jlong agent, jlong ticket, What&& what) {
  auto at = agents().find(agent);
  if (at == nullptr) return static_cast<jint>(code(Status::kStale));
  if (ticket <= 0) return static_cast<jint>(code(Status::kInvalid));
  return static_cast<jint>(code(at->submit({static_cast<uint64_t>(ticket), std::forward<What>(what)})));
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_NativeNixl_open(JNIEnv* env, jclass, jobjectArray candidates,
                                                               jbyteArray pluginFolder, jbyteArray name,
                                                               jobjectArray backends) {
  return guarded([&] {
    AgentPlan plan;
    std::vector<std::string> words;
    if (!readWords(env, candidates, kMostTexts, &plan.candidates) ||
        !readWord(env, pluginFolder, &plan.pluginFolder) || !readWord(env, name, &plan.name) ||
        plan.name.empty() || !readWords(env, backends, kMostTexts, &words) ||
        !readBackends(words, &plan.backends)) {
      return code(Status::kInvalid);
    }
    jlong handle = agents().add(Agent::open(std::move(plan)));
    return handle < 0 ? code(Status::kBusy) : handle;
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeNixl_register(JNIEnv*, jclass, jlong agent, jlong ticket,
                                                                  jint kind, jlong address, jlong bytes,
                                                                  jlong device) {
  return static_cast<jint>(guarded([&] {
    return jlong{submit(agent, ticket,
                        dynamo::nixl::Register{kind,
                                               {static_cast<uint64_t>(address), static_cast<uint64_t>(bytes),
                                                static_cast<uint64_t>(device)}})};
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeNixl_deregister(JNIEnv*, jclass, jlong agent,
                                                                    jlong ticket, jlong registration) {
  return static_cast<jint>(guarded([&] {
    return jlong{submit(agent, ticket, dynamo::nixl::Deregister{static_cast<uint64_t>(registration)})};
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeNixl_metadata(JNIEnv*, jclass, jlong agent,
                                                                  jlong ticket) {
  return static_cast<jint>(
      guarded([&] { return jlong{submit(agent, ticket, dynamo::nixl::DescribeSelf{})}; }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeNixl_watch(JNIEnv* env, jclass, jlong agent, jlong ticket,
                                                               jbyteArray key, jlong deadline) {
  return static_cast<jint>(guarded([&] {
    dynamo::nixl::Watch watch{"", static_cast<uint64_t>(deadline)};
    if (!read(env, key, kLongestWord, &watch.key)) return code(Status::kInvalid);
    return jlong{submit(agent, ticket, std::move(watch))};
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeNixl_transfer(JNIEnv* env, jclass, jlong agent,
                                                                  jlong ticket, jboolean write,
                                                                  jint remoteKind, jlongArray pieces,
                                                                  jbyteArray peerMetadata,
                                                                  jbyteArray notification, jlong deadline) {
  return static_cast<jint>(guarded([&] {
    static_assert(sizeof(Piece) == kPieceLongs * sizeof(jlong), "a piece is five longs");
    dynamo::nixl::TransferOrder order{
        write == JNI_TRUE, remoteKind, {}, "", "", static_cast<uint64_t>(deadline)};
    jsize longs = env->GetArrayLength(pieces);
    if (longs % kPieceLongs != 0 || longs / kPieceLongs > static_cast<jsize>(Agent::kMostPieces) ||
        !read(env, peerMetadata, kMostMetadataBytes, &order.peerMetadata) ||
        !read(env, notification, kLongestWord, &order.notification)) {
      return code(Status::kInvalid);
    }
    order.pieces.resize(static_cast<size_t>(longs / kPieceLongs));
    env->GetLongArrayRegion(pieces, 0, longs, reinterpret_cast<jlong*>(order.pieces.data()));
    return jlong{submit(agent, ticket, std::move(order))};
  }));
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_NativeNixl_cancel(JNIEnv*, jclass, jlong agent, jlong ticket) {
  guarded([&] {
    auto at = agents().find(agent);
    if (at != nullptr) at->cancel(static_cast<uint64_t>(ticket));
    return jlong{0};
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeNixl_phase(JNIEnv*, jclass, jlong agent, jlong ticket) {
  return static_cast<jint>(guarded([&] {
    auto at = agents().find(agent);
    return at == nullptr ? jlong{-1} : static_cast<jlong>(at->phase(static_cast<uint64_t>(ticket)));
  }));
}

JNIEXPORT jbyteArray JNICALL Java_io_dynamo_natives_NativeNixl_await(JNIEnv* env, jclass, jlong agent,
                                                                     jlong maxNanos, jlongArray numbers) {
  try {
    Event event;
    Status status = Status::kStale;
    if (env->GetArrayLength(numbers) != kEventLongs) return nullptr;
    auto at = agents().find(agent);
    if (at != nullptr) status = at->await(maxNanos < 0 ? 0 : static_cast<uint64_t>(maxNanos), &event);
    const jlong values[] = {static_cast<jlong>(event.ticket),
                            code(status == Status::kOk ? event.status : status), event.code,
                            static_cast<jlong>(event.number)};
    env->SetLongArrayRegion(numbers, 0, kEventLongs, values);
    if (status != Status::kOk) return nullptr;
    auto length = static_cast<jsize>(std::min<size_t>(event.text.size(), kMostMetadataBytes));
    jbyteArray text = env->NewByteArray(length);
    if (text != nullptr) {
      env->SetByteArrayRegion(text, 0, length, reinterpret_cast<const jbyte*>(event.text.data()));
    }
    return text;
  } catch (...) {
    return nullptr;
  }
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeNixl_close(JNIEnv*, jclass, jlong agent, jlong maxNanos) {
  return static_cast<jint>(guarded([&] {
    auto at = agents().find(agent);
    if (at == nullptr) return code(Status::kOk);
    return code(at->close(maxNanos < 0 ? 0 : static_cast<uint64_t>(maxNanos)) ? Status::kOk
                                                                              : Status::kTimeout);
  }));
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_NativeNixl_forget(JNIEnv*, jclass, jlong agent) {
  guarded([&] {
    agents().remove(agent);
    return jlong{0};
  });
}

JNIEXPORT jstring JNICALL Java_io_dynamo_natives_NativeNixl_probe(JNIEnv* env, jclass,
                                                                  jobjectArray candidates,
                                                                  jbyteArray pluginFolder) {
  try {
    std::vector<std::string> words;
    std::string folder;
    if (!readWords(env, candidates, kMostTexts, &words) || !readWord(env, pluginFolder, &folder))
      return nullptr;
    return env->NewStringUTF(dynamo::nixl::probeLibrary(words, folder).c_str());
  } catch (...) {
    return nullptr;
  }
}

}  // extern "C"
