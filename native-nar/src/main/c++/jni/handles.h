#ifndef DYNAMO_JNI_HANDLES_H_
#define DYNAMO_JNI_HANDLES_H_

#include <jni.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dynamo::jni {

/// Objects that Java names by index and generation, never by an address: a handle that is stale or made up
/// finds nothing. Safe for concurrent use; an object lives on while a call uses it.
template <typename T>
class Handles {
 public:
  explicit Handles(size_t most) : most_(most) {}

  /// Returns the handle of an object, or -1 when there are too many.
  jlong add(std::shared_ptr<T> object) {
    std::lock_guard<std::mutex> lock(mutex_);
    size_t index = 0;
    while (index < all_.size() && all_[index].object != nullptr) index++;
    if (index == most_) return -1;
    if (index == all_.size()) all_.emplace_back();
    all_[index].object = std::move(object);
    return handleOf(index);
  }

  /// Returns null when there is none.
  std::shared_ptr<T> find(jlong handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    Slot* slot = slotOf(handle);
    return slot == nullptr ? nullptr : slot->object;
  }

  /// Makes a handle stale, and returns its object; null when it was stale.
  std::shared_ptr<T> remove(jlong handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    Slot* slot = slotOf(handle);
    if (slot == nullptr) return nullptr;
    slot->generation++;
    return std::move(slot->object);
  }

 private:
  struct Slot {
    std::shared_ptr<T> object;
    uint32_t generation = 1;
  };

  jlong handleOf(size_t index) const {
    return static_cast<jlong>(uint64_t{all_[index].generation & 0x7fffffffu} << 32 | index);
  }

  Slot* slotOf(jlong handle) {
    auto index = static_cast<size_t>(static_cast<uint64_t>(handle) & 0xffffffffu);
    if (handle < 0 || index >= all_.size() || all_[index].object == nullptr) return nullptr;
    return handleOf(index) == handle ? &all_[index] : nullptr;
  }

  const size_t most_;
  std::mutex mutex_;
  std::vector<Slot> all_;
};

}  // namespace dynamo::jni

#endif  // DYNAMO_JNI_HANDLES_H_
