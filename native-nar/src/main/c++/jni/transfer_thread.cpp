// JNI of io.dynamo.natives.TransferThread. A thread is named by index and generation, never by an address;
// the memory of its rings is Java's, kept by global references until the thread has ended.

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "../backend/fault/fault_mover.h"
#include "../core/transfers.h"
#include "calls.h"
#include "faults.h"
#include "io_dynamo_natives_TransferThread.h"

using dynamo::FaultMover;
using dynamo::FaultPlan;
using dynamo::MemMover;
using dynamo::Status;
using dynamo::Transfers;
using dynamo::jni::code;
using dynamo::jni::guarded;

namespace {

constexpr size_t kMostThreads = 1024;

struct Slot {
  std::shared_ptr<Transfers> transfers;
  jobject submit = nullptr;
  jobject done = nullptr;
  uint32_t generation = 1;
};

struct Slots {
  std::mutex mutex;
  std::vector<Slot> all;
};

Slots& slots() {
  static Slots& only = *new Slots;
  return only;
}

jlong handleOf(size_t index, uint32_t generation) {
  return static_cast<jlong>(uint64_t{generation & 0x7fffffffu} << 32 | index);
}

/// The slot of a handle, or null; the caller has the lock.
Slot* slotOf(Slots& in, jlong handle) {
  auto index = static_cast<size_t>(static_cast<uint64_t>(handle) & 0xffffffffu);
  if (handle < 0 || index >= in.all.size()) return nullptr;
  Slot& slot = in.all[index];
  return slot.transfers != nullptr && handleOf(index, slot.generation) == handle ? &slot : nullptr;
}

std::shared_ptr<Transfers> find(jlong handle) {
  Slots& in = slots();
  std::lock_guard<std::mutex> lock(in.mutex);
  Slot* slot = slotOf(in, handle);
  return slot == nullptr ? nullptr : slot->transfers;
}

MemMover& mover() {
  static MemMover& only = *new MemMover;
  return only;
}

/// A transfer thread with faults, which ends before they do.
struct Faulty {
  explicit Faulty(FaultPlan plan) : faults(mover(), std::move(plan)) {}

  FaultMover faults;
  std::unique_ptr<Transfers> transfers;
};

/// Starts a thread; a plan without faults costs it nothing.
Status openTransfers(Transfers::Memory memory, FaultPlan plan, std::shared_ptr<Transfers>* opened) {
  if (plan.isEmpty()) {
    std::unique_ptr<Transfers> made;
    Status status = Transfers::open(dynamo::jni::table(), mover(), memory, &made);
    *opened = std::move(made);
    return status;
  }
  auto faulty = std::make_shared<Faulty>(std::move(plan));
  Status status = Transfers::open(dynamo::jni::table(), faulty->faults, memory, &faulty->transfers);
  if (status == Status::kOk) *opened = std::shared_ptr<Transfers>(faulty, faulty->transfers.get());
  return status;
}

/// Keeps a Java object in place, until its end or for the one that takes it over.
class GlobalRef {
 public:
  GlobalRef(JNIEnv* env, jobject object) : env_(env), ref_(env->NewGlobalRef(object)) {}
  ~GlobalRef() {
    if (ref_ != nullptr) env_->DeleteGlobalRef(ref_);
  }
  GlobalRef(const GlobalRef&) = delete;
  GlobalRef& operator=(const GlobalRef&) = delete;

  bool isThere() const { return ref_ != nullptr; }
  jobject take() { return std::exchange(ref_, nullptr); }

 private:
  JNIEnv* env_;
  jobject ref_;
};

/// Takes a free slot; the caller has the lock. The index past the last stands for none.
size_t freeSlot(Slots& in) {
  for (size_t i = 0; i < in.all.size(); i++) {
    if (in.all[i].transfers == nullptr) return i;
  }
  if (in.all.size() < kMostThreads) in.all.emplace_back();
  return in.all.size() - 1 < kMostThreads && in.all.back().transfers == nullptr ? in.all.size() - 1
                                                                                : kMostThreads;
}

}  // namespace

extern "C" {

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_TransferThread_open(JNIEnv* env, jclass, jobject submit,
                                                                   jobject done, jlongArray faults) {
  return guarded([&] {
    FaultPlan plan;
    Status status = dynamo::jni::readFaults(env, faults, &plan);
    if (status != Status::kOk) return code(status);
    Transfers::Memory memory{static_cast<std::byte*>(env->GetDirectBufferAddress(submit)), 0,
                             static_cast<std::byte*>(env->GetDirectBufferAddress(done)), 0};
    if (memory.submit == nullptr || memory.done == nullptr ||
        reinterpret_cast<uintptr_t>(memory.submit) % 64 != 0 ||
        reinterpret_cast<uintptr_t>(memory.done) % 64 != 0) {
      return code(Status::kInvalid);
    }
    memory.submitBytes = static_cast<uint64_t>(env->GetDirectBufferCapacity(submit));
    memory.doneBytes = static_cast<uint64_t>(env->GetDirectBufferCapacity(done));
    GlobalRef keptSubmit(env, submit);  // before the thread starts, which reads their memory
    GlobalRef keptDone(env, done);
    if (!keptSubmit.isThere() || !keptDone.isThere()) return code(Status::kNoMemory);
    Slots& in = slots();
    std::lock_guard<std::mutex> lock(in.mutex);
    size_t index = freeSlot(in);
    if (index == kMostThreads) return code(Status::kBusy);
    std::shared_ptr<Transfers> opened;
    status = openTransfers(memory, std::move(plan), &opened);
    if (status != Status::kOk) return code(status);
    Slot& slot = in.all[index];
    slot.transfers = std::move(opened);
    slot.submit = keptSubmit.take();
    slot.done = keptDone.take();
    return handleOf(index, slot.generation);
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_TransferThread_kick(JNIEnv*, jclass, jlong handle) {
  return static_cast<jint>(guarded([&] {
    auto transfers = find(handle);
    if (transfers == nullptr) return code(Status::kStale);
    transfers->kick();
    return code(Status::kOk);
  }));
}

JNIEXPORT jlong JNICALL Java_io_dynamo_natives_TransferThread_await(JNIEnv*, jclass, jlong handle,
                                                                    jlong maxNanos) {
  return guarded([&] {
    auto transfers = find(handle);
    if (transfers == nullptr) return code(Status::kStale);
    return static_cast<jlong>(transfers->await(maxNanos < 0 ? 0 : static_cast<uint64_t>(maxNanos)));
  });
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_TransferThread_cancel(JNIEnv*, jclass, jlong handle,
                                                                    jlong ticket) {
  return static_cast<jint>(guarded([&] {
    auto transfers = find(handle);
    return code(transfers == nullptr ? Status::kStale : transfers->cancel(static_cast<uint64_t>(ticket)));
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_TransferThread_counts(JNIEnv* env, jclass, jlong handle,
                                                                    jlongArray into) {
  return static_cast<jint>(guarded([&] {
    auto transfers = find(handle);
    if (transfers == nullptr) return code(Status::kStale);
    Transfers::Counts counts = transfers->counts();
    const jlong values[] = {static_cast<jlong>(counts.completed), static_cast<jlong>(counts.failed),
                            static_cast<jlong>(counts.bytes), static_cast<jlong>(counts.busyNanos)};
    if (env->GetArrayLength(into) != 4) return code(Status::kInvalid);
    env->SetLongArrayRegion(into, 0, 4, values);
    return code(Status::kOk);
  }));
}

JNIEXPORT jint JNICALL Java_io_dynamo_natives_TransferThread_close(JNIEnv* env, jclass, jlong handle,
                                                                   jlong maxNanos) {
  return static_cast<jint>(guarded([&] {
    auto transfers = find(handle);
    if (transfers == nullptr) return code(Status::kOk);
    transfers->close(maxNanos < 0 ? 0 : static_cast<uint64_t>(maxNanos));
    jobject submit = nullptr;
    jobject done = nullptr;
    Slots& in = slots();
    {
      std::lock_guard<std::mutex> lock(in.mutex);
      Slot* slot = slotOf(in, handle);
      if (slot != nullptr) {  // else another close was faster
        std::swap(submit, slot->submit);
        std::swap(done, slot->done);
        slot->transfers = nullptr;
        slot->generation++;
      }
    }
    if (submit != nullptr) env->DeleteGlobalRef(submit);
    if (done != nullptr) env->DeleteGlobalRef(done);
    return code(Status::kOk);
  }));
}

}  // extern "C"
