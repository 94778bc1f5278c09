#ifndef DYNAMO_CORE_RINGS_H_
#define DYNAMO_CORE_RINGS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "copy.h"
#include "status.h"

namespace dynamo {

/// A batch of ranges to copy, as Java asks for it.
struct Submission {
  uint64_t ticket = 0;
  bool onboard = false;  ///< goes before those that are not
  uint64_t source = 0;
  uint64_t target = 0;
  uint64_t deadlineNanos = 0;  ///< on the monotonic clock; 0 is none
  std::vector<CopyRange> ranges;
};

/// What became of a submission; 32 bytes, as Java reads it.
struct Completion {
  uint64_t ticket;
  int32_t status;
  uint32_t micros;  ///< from the arrival of the submission to its end
  uint64_t bytes;
  uint64_t reserved;
};

/// The ring on which one producer, Java, hands submissions over; little-endian, positions count bytes for
/// ever. <pre>
///    0  position after the last record, written by Java       64  position of the first, written here
///  128  1 while the consumer sleeps and wants a kick         256  records, each a multiple of 64 bytes
///  record: ticket u64 | op u8 | form u8 | flags u16 | count u32 | source u64 | target u64 | peer u64 |
///          deadline u64 | layers, notification u64 | bounce u64 | count × {source, target, length} u64
/// </pre>
/// Nothing that it reads is trusted: a record that leaves the ring ends the ring.
class SubmitRing {
 public:
  static constexpr size_t kControlBytes = 256;
  static constexpr size_t kHeaderBytes = 64;
  static constexpr uint8_t kCopy = 1;
  static constexpr uint8_t kPad = 255;     ///< skips the rest of the ring
  static constexpr uint8_t kRaw = 0;       ///< the form with a triple for each range
  static constexpr uint16_t kOnboard = 1;  ///< the flag of those that go first

  /// Whether a ring can live in so many bytes: the control area and a power of two.
  static bool fits(uint64_t bytes);

  SubmitRing(std::byte* base, uint64_t bytes) : base_(base), size_(bytes - kControlBytes) {}

  bool isEmpty() const;
  /// Takes the next submission: kOk, kBusy when there is none, kInvalid for a record of an unknown form (its
  /// ticket is set), kCorrupt when the ring makes no sense any more.
  Status take(Submission* next);
  /// Tells the producer whether it has to kick the consumer.
  void setAsleep(bool asleep);

 private:
  uint64_t word(uint64_t position) const;

  std::byte* base_;
  uint64_t size_;
  uint64_t head_ = 0;
};

/// The ring on which one thread hands completions to Java.
/// <pre>
///  0  count of completions ever, written here     64  count that Java has taken     256  32 bytes each
/// </pre>
class CompletionRing {
 public:
  static constexpr size_t kControlBytes = 256;

  static bool fits(uint64_t bytes);

  CompletionRing(std::byte* base, uint64_t bytes);

  uint64_t capacity() const { return capacity_; }
  /// How many completions Java has not taken yet.
  uint64_t waiting() const;
  /// Adds one; there must be room.
  void add(const Completion& completion);

 private:
  std::byte* base_;
  uint64_t capacity_;
  uint64_t tail_ = 0;
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_RINGS_H_
