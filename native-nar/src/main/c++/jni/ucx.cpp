// JNI of io.dynamo.natives.NativeUcx.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../backend/ucx/library.h"
#include "../backend/ucx/transport.h"
#include "calls.h"
#include "handles.h"
#include "io_dynamo_natives_NativeUcx.h"
#include "texts.h"

using dynamo::Status;
using dynamo::jni::code;
using dynamo::jni::guarded;
using dynamo::jni::Handles;
using dynamo::jni::read;
using dynamo::jni::readWord;
using dynamo::jni::readWords;
using dynamo::ucx::Event;
using dynamo::ucx::Plan;
using dynamo::ucx::Proof;
using dynamo::ucx::Transport;

namespace {

constexpr jsize kLongestOffer = 64 << 10;
constexpr jsize kMostCandidates = 64;
constexpr jsize kRangeLongs = 3;  // where the bytes begin in the source and in the target, their number
constexpr jsize kEventLongs = 4;  // ticket, status, code, number

Handles<Transport>& transports() {
  static Handles<Transport>& only = *new Handles<Transport>(256);
  return only;
}

bool readProof(JNIEnv* env, jbyteArray from, Proof* proof) {
  auto length = static_cast<jsize>(proof->size());
  if (env->GetArrayLength(from) != length) return false;
  env->GetByteArrayRegion(from, 0, length, reinterpret_cast<jbyte*>(proof->data()));
  return true;
}

template <typename What>
jlong submit(jlong transport, jlong ticket, What&& what) {
  auto at = transports().find(transport);
  if (at == nullptr) return code(Status::kStale);
  if (ticket <= 0) return code(Status::kInvalid);
  return code(at->submit({static_cast<uint64_t>(ticket), std::forward<What>(what)}));
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_NativeUcx_open(JNIEnv* env, jclass, jobjectArray candidates,
                                                              jbyteArray list, jboolean isRdmaRequired) {
  return guarded([&] {
    Plan plan;
    plan.isRdmaRequired = isRdmaRequired == JNI_TRUE;
    if (!readWords(env, candidates, kMostCandidates, &plan.candidates) ||
        !readWord(env, list, &plan.transports)) {
      return code(Status::kInvalid);
    }
    jlong handle = transports().add(Transport::open(std::move(plan), dynamo::jni::table()));
    return handle < 0 ? code(Status::kBusy) : handle;
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeUcx_lend(JNIEnv* env, jclass, jlong transport,
                                                             jlong ticket, jlong region, jbyteArray proof,
                                                             jlong endNanos) {
  return static_cast<jint>(guarded([&] {
    dynamo::ucx::Lend lending{static_cast<uint64_t>(region), {}, static_cast<uint64_t>(endNanos)};
    if (!readProof(env, proof, &lending.proof)) return code(Status::kInvalid);
    return submit(transport, ticket, lending);
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeUcx_endLease(JNIEnv*, jclass, jlong transport,
                                                                 jlong ticket, jlong lease) {
  return static_cast<jint>(guarded(
      [&] { return submit(transport, ticket, dynamo::ucx::EndLease{static_cast<uint64_t>(lease)}); }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeUcx_write(JNIEnv* env, jclass, jlong transport,
                                                              jlong ticket, jlong region, jlongArray range,
                                                              jbyteArray offer, jbyteArray proof,
                                                              jlong deadlineNanos) {
  return static_cast<jint>(guarded([&] {
    jlong longs[kRangeLongs];
    if (env->GetArrayLength(range) != kRangeLongs) return code(Status::kInvalid);
    env->GetLongArrayRegion(range, 0, kRangeLongs, longs);
    if (std::any_of(longs, longs + kRangeLongs, [](jlong one) { return one < 0; })) {
      return code(Status::kRange);
    }
    dynamo::ucx::Write order{static_cast<uint64_t>(region),
                             static_cast<uint64_t>(longs[0]),
                             static_cast<uint64_t>(longs[1]),
                             static_cast<uint64_t>(longs[2]),
                             "",
                             {},
                             static_cast<uint64_t>(deadlineNanos)};
    if (!read(env, offer, kLongestOffer, &order.offer) || !readProof(env, proof, &order.proof)) {
      return code(Status::kInvalid);
    }
    return submit(transport, ticket, std::move(order));
  }));
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_NativeUcx_cancel(JNIEnv*, jclass, jlong transport,
                                                               jlong ticket) {
  guarded([&] {
    auto at = transports().find(transport);
    if (at != nullptr) at->cancel(static_cast<uint64_t>(ticket));
    return jlong{0};
  });
}

JNIEXPORT jbyteArray JNICALL Java_io_dynamo_natives_NativeUcx_await(JNIEnv* env, jclass, jlong transport,
                                                                    jlong maxNanos, jlongArray numbers) {
  try {
    Event event;
    Status status = Status::kStale;
    if (env->GetArrayLength(numbers) != kEventLongs) return nullptr;
    auto at = transports().find(transport);
    if (at != nullptr) status = at->await(maxNanos < 0 ? 0 : static_cast<uint64_t>(maxNanos), &event);
    const jlong values[] = {static_cast<jlong>(event.ticket),
                            code(status == Status::kOk ? event.status : status), event.code,
                            static_cast<jlong>(event.number)};
    env->SetLongArrayRegion(numbers, 0, kEventLongs, values);
    if (status != Status::kOk) return nullptr;
    auto length = static_cast<jsize>(std::min<size_t>(event.text.size(), kLongestOffer));
    jbyteArray text = env->NewByteArray(length);
    if (text != nullptr) {
      env->SetByteArrayRegion(text, 0, length, reinterpret_cast<const jbyte*>(event.text.data()));
    }
    return text;
  } catch (...) {
    return nullptr;
  }
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_NativeUcx_close(JNIEnv*, jclass, jlong transport,
                                                              jlong maxNanos) {
  return static_cast<jint>(guarded([&] {
    auto at = transports().find(transport);
    if (at == nullptr) return code(Status::kOk);
    return code(at->close(maxNanos < 0 ? 0 : static_cast<uint64_t>(maxNanos)) ? Status::kOk
                                                                              : Status::kTimeout);
  }));
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_NativeUcx_forget(JNIEnv*, jclass, jlong transport) {
  guarded([&] {
    transports().remove(transport);
    return jlong{0};
  });
}

JNIEXPORT jstring JNICALL Java_io_dynamo_natives_NativeUcx_probe(JNIEnv* env, jclass, jobjectArray candidates,
                                                                 jbyteArray list) {
  try {
    std::vector<std::string> words;
    std::string names;
    if (!readWords(env, candidates, kMostCandidates, &words) || !readWord(env, list, &names)) return nullptr;
    return env->NewStringUTF(dynamo::ucx::probeLibrary(words, names).c_str());
  } catch (...) {
    return nullptr;
  }
}

}  // extern "C"
