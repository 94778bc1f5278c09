#include "rings.h"

#include <cstring>

namespace dynamo {
namespace {

constexpr uint64_t kOtherSide = 64;  // where the other side's position is
constexpr uint64_t kAsleep = 128;
constexpr uint64_t kLargest = uint64_t{1} << 28;

uint64_t* at(std::byte* base, uint64_t offset) { return reinterpret_cast<uint64_t*>(base + offset); }

bool isPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

}  // namespace

bool SubmitRing::fits(uint64_t bytes) {
  return bytes > kControlBytes && bytes - kControlBytes <= kLargest && isPowerOfTwo(bytes - kControlBytes) &&
         bytes - kControlBytes >= 1024;
}

bool SubmitRing::isEmpty() const { return __atomic_load_n(at(base_, 0), __ATOMIC_SEQ_CST) == head_; }

void SubmitRing::setAsleep(bool asleep) {
  __atomic_store_n(at(base_, kAsleep), asleep ? 1 : 0, __ATOMIC_SEQ_CST);
}

uint64_t SubmitRing::word(uint64_t position) const {
  uint64_t value;
  std::memcpy(&value, base_ + kControlBytes + (position & (size_ - 1)), sizeof value);
  return value;
}

Status SubmitRing::take(Submission* next) {
  for (;;) {
    uint64_t tail = __atomic_load_n(at(base_, 0), __ATOMIC_ACQUIRE);
    if (tail == head_) return Status::kBusy;
    uint64_t used = tail - head_;
    uint64_t untilEnd = size_ - (head_ & (size_ - 1));
    if (used > size_ || used % kHeaderBytes != 0) return Status::kCorrupt;
    // Every field is read once: what is checked is what is used, whatever is written here meanwhile.
    uint64_t kind = word(head_ + 8);
    auto op = static_cast<uint8_t>(kind);
    auto form = static_cast<uint8_t>(kind >> 8);
    auto flags = static_cast<uint16_t>(kind >> 16);
    uint64_t count = kind >> 32;
    if (op == kPad) {
      if (untilEnd > used) return Status::kCorrupt;
      head_ += untilEnd;
      __atomic_store_n(at(base_, kOtherSide), head_, __ATOMIC_RELEASE);
      continue;
    }
    uint64_t length =
        kHeaderBytes + (count * sizeof(CopyRange) + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
    if (length > used || length > untilEnd) return Status::kCorrupt;
    next->ticket = word(head_);
    next->onboard = (flags & kOnboard) != 0;
    next->source = word(head_ + 16);
    next->target = word(head_ + 24);
    next->deadlineNanos = word(head_ + 40);
    bool known = op == kCopy && form == kRaw && word(head_ + 32) == 0;
    if (known) {
      next->ranges.resize(count);
      std::memcpy(next->ranges.data(), base_ + kControlBytes + (head_ & (size_ - 1)) + kHeaderBytes,
                  count * sizeof(CopyRange));
    }
    head_ += length;
    __atomic_store_n(at(base_, kOtherSide), head_, __ATOMIC_RELEASE);
    return known ? Status::kOk : Status::kInvalid;
  }
}

bool CompletionRing::fits(uint64_t bytes) {
  return bytes > kControlBytes && bytes - kControlBytes <= kLargest &&
         isPowerOfTwo((bytes - kControlBytes) / sizeof(Completion)) &&
         (bytes - kControlBytes) % sizeof(Completion) == 0;
}

CompletionRing::CompletionRing(std::byte* base, uint64_t bytes)
    : base_(base), capacity_((bytes - kControlBytes) / sizeof(Completion)) {}

uint64_t CompletionRing::waiting() const {
  return __atomic_load_n(at(base_, 0), __ATOMIC_ACQUIRE) -
         __atomic_load_n(at(base_, kOtherSide), __ATOMIC_ACQUIRE);
}

void CompletionRing::add(const Completion& completion) {
  std::memcpy(base_ + kControlBytes + (tail_ & (capacity_ - 1)) * sizeof completion, &completion,
              sizeof completion);
  __atomic_store_n(at(base_, 0), ++tail_, __ATOMIC_RELEASE);
}

}  // namespace dynamo
