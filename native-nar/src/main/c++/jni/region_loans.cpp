// JNI of io.dynamo.natives.RegionLoans.

#include <memory>
#include <string>

#include "../core/kept_loans.h"
#include "../core/region_lender.h"
#include "../core/region_loan.h"
#include "calls.h"
#include "handles.h"
#include "io_dynamo_natives_RegionLoans.h"

using dynamo::Access;
using dynamo::KeptLoans;
using dynamo::LoanKey;
using dynamo::RegionLender;
using dynamo::RegionLoan;
using dynamo::Secret;
using dynamo::Status;
using dynamo::jni::code;
using dynamo::jni::guarded;
using dynamo::jni::Handles;

namespace {

Handles<RegionLender>& lenders() {
  static Handles<RegionLender>& only = *new Handles<RegionLender>(1024);
  return only;
}

Handles<RegionLoan>& loans() {
  static Handles<RegionLoan>& only = *new Handles<RegionLoan>(1024);
  return only;
}

Handles<KeptLoans>& keepers() {
  static Handles<KeptLoans>& only = *new Handles<KeptLoans>(1024);
  return only;
}

/// Empty, which no name may be, when the array is too long.
std::string nameOf(JNIEnv* env, jbyteArray array) {
  jsize length = env->GetArrayLength(array);
  if (length > static_cast<jsize>(dynamo::kLoanNameLength)) return {};
  std::string name(static_cast<size_t>(length), '\0');
  env->GetByteArrayRegion(array, 0, length, reinterpret_cast<jbyte*>(name.data()));
  return name;
}

bool read(JNIEnv* env, jbyteArray array, Secret* secret) {
  auto length = static_cast<jsize>(secret->size());
  if (env->GetArrayLength(array) != length) return false;
  env->GetByteArrayRegion(array, 0, length, reinterpret_cast<jbyte*>(secret->data()));
  return true;
}

Access accessOf(jboolean toRead) { return toRead == JNI_TRUE ? Access::kRead : Access::kWrite; }

bool read(JNIEnv* env, jbyteArray name, jlong lease, jbyteArray secret, Access access, LoanKey* key) {
  key->access = access;
  key->lender = nameOf(env, name);
  key->lease = static_cast<uint64_t>(lease);
  return read(env, secret, &key->secret);
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_RegionLoans_openLender(JNIEnv* env, jclass, jbyteArray name) {
  return guarded([&] {
    std::unique_ptr<RegionLender> opened;
    Status status = RegionLender::open(dynamo::jni::table(), nameOf(env, name), &opened);
    if (status != Status::kOk) return code(status);
    jlong handle = lenders().add(std::move(opened));
    return handle < 0 ? code(Status::kBusy) : handle;
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_RegionLoans_lend(JNIEnv* env, jclass, jlong lender, jlong lease,
                                                               jbyteArray secret, jlong region, jlong nanos,
                                                               jboolean toRead) {
  return static_cast<jint>(guarded([&] {
    auto at = lenders().find(lender);
    if (at == nullptr) return code(Status::kStale);
    Secret given;
    if (!read(env, secret, &given)) return code(Status::kInvalid);
    return code(at->lend(static_cast<uint64_t>(lease), given, static_cast<uint64_t>(region),
                         nanos < 0 ? 0 : static_cast<uint64_t>(nanos), accessOf(toRead)));
  }));
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_RegionLoans_endLease(JNIEnv*, jclass, jlong lender,
                                                                   jlong lease) {
  guarded([&] {
    auto at = lenders().find(lender);
    if (at != nullptr) at->end(static_cast<uint64_t>(lease));
    return jlong{0};
  });
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_RegionLoans_closeLender(JNIEnv*, jclass, jlong lender) {
  guarded([&] {
    auto at = lenders().find(lender);  // stays until then: leases that end meanwhile are told to it
    if (at != nullptr) at->close();
    lenders().remove(lender);
    return jlong{0};
  });
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_RegionLoans_ask(JNIEnv* env, jclass, jbyteArray name,
                                                               jlong lease, jbyteArray secret,
                                                               jboolean toRead) {
  return guarded([&] {
    LoanKey key;
    if (!read(env, name, lease, secret, accessOf(toRead), &key)) return code(Status::kInvalid);
    std::unique_ptr<RegionLoan> asked;
    Status status = RegionLoan::ask(key, &asked);
    if (status != Status::kOk) return code(status);
    jlong handle = loans().add(std::move(asked));
    return handle < 0 ? code(Status::kBusy) : handle;
  });
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_RegionLoans_await(JNIEnv*, jclass, jlong loan, jlong byteSize,
                                                                 jlong maxNanos) {
  return guarded([&] {
    auto at = loans().find(loan);
    if (at == nullptr) return code(Status::kCancelled);
    uint64_t region = 0;
    Status status = byteSize <= 0 ? Status::kInvalid
                                  : at->await(dynamo::jni::table(), static_cast<uint64_t>(byteSize),
                                              maxNanos < 0 ? 0 : static_cast<uint64_t>(maxNanos), &region);
    return status == Status::kOk ? static_cast<jlong>(region) : code(status);
  });
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_RegionLoans_closeLoan(JNIEnv*, jclass, jlong loan) {
  guarded([&] {
    auto at = loans().remove(loan);
    if (at != nullptr) at->giveUp();
    return jlong{0};
  });
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_RegionLoans_openKeeper(JNIEnv*, jclass) {
  return guarded([&] {
    std::unique_ptr<KeptLoans> opened;
    Status status = KeptLoans::open(dynamo::jni::table(), KeptLoans::kLimits, &opened);
    if (status != Status::kOk) return code(status);
    jlong handle = keepers().add(std::move(opened));
    return handle < 0 ? code(Status::kBusy) : handle;
  });
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_RegionLoans_find(JNIEnv* env, jclass, jlong keeper,
                                                                jbyteArray name, jlong lease,
                                                                jbyteArray secret, jlong byteSize,
                                                                jboolean toRead) {
  return guarded([&] {
    auto at = keepers().find(keeper);
    LoanKey key;
    if (at == nullptr) return code(Status::kStale);
    if (!read(env, name, lease, secret, accessOf(toRead), &key)) return code(Status::kInvalid);
    uint64_t region = 0;
    Status status = at->find(key, static_cast<uint64_t>(byteSize), &region);
    return status == Status::kOk ? static_cast<jlong>(region) : code(status);
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_RegionLoans_confirm(JNIEnv*, jclass, jlong loan) {
  return static_cast<jint>(guarded([&] {
    auto at = loans().find(loan);
    return code(at != nullptr && at->isRunning() ? Status::kOk : Status::kStale);
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_RegionLoans_confirmKept(JNIEnv* env, jclass, jlong keeper,
                                                                      jbyteArray name, jlong lease,
                                                                      jbyteArray secret) {
  return static_cast<jint>(guarded([&] {
    auto at = keepers().find(keeper);
    LoanKey key;
    if (at == nullptr) return code(Status::kStale);
    if (!read(env, name, lease, secret, Access::kRead, &key)) return code(Status::kInvalid);
    return code(at->isRunning(key) ? Status::kOk : Status::kStale);
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_RegionLoans_keep(JNIEnv*, jclass, jlong keeper, jlong loan) {
  return static_cast<jint>(guarded([&] {
    auto at = keepers().find(keeper);
    if (at == nullptr) return code(Status::kStale);
    auto taken = loans().remove(loan);
    if (taken == nullptr) return code(Status::kCancelled);
    at->keep(std::move(taken));
    return code(Status::kOk);
  }));
}

JNIEXPORT void JNICALL Java_io_dynamo_natives_RegionLoans_closeKeeper(JNIEnv*, jclass, jlong keeper) {
  guarded([&] {
    auto at = keepers().remove(keeper);
    if (at != nullptr) at->close();
    return jlong{0};
  });
}

}  // extern "C"
