#ifndef DYNAMO_CORE_FAULTS_H_
#define DYNAMO_CORE_FAULTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "status.h"

namespace dynamo {

/// One thing that goes wrong on purpose, with the operation of its number; the first one is 1.
struct Fault {
  enum class Kind : int64_t {
    kDelay = 1,    ///< begins late, by `value` nanoseconds
    kDrop = 2,     ///< never begins: its deadline or a cancel ends it
    kShort = 3,    ///< half of its bytes arrive, and it fails with kIo
    kCorrupt = 4,  ///< the lowest bit of its first byte arrives inverted, and nobody notices
    kFail = 5,     ///< fails before a byte is moved, by `value`: a Status below zero, an errno above
  };

  uint64_t number = 0;
  Kind kind = Kind::kFail;
  int64_t value = 0;

  /// How an operation with kFail ends.
  Status status() const { return value < 0 ? static_cast<Status>(value) : Status::kIo; }
  /// The errno that it ends with, or 0.
  int error() const { return kind == Kind::kFail && value > 0 ? static_cast<int>(value) : 0; }
};

/// The faults of one context, for tests and diagnosis: nothing of the product makes one. Used by one thread
/// at a time.
class FaultPlan {
 public:
  static constexpr size_t kWords = 3;  ///< of a fault: number, kind, value
  static constexpr size_t kMostFaults = 1024;
  static constexpr int64_t kMostDelayNanos = int64_t{3600} * 1'000'000'000;
  static constexpr int64_t kMostErrno = 4095;

  /// kInvalid for words that are no plan: an unknown kind, two faults of one number, a value out of range.
  static Status read(const int64_t* words, size_t count, FaultPlan* plan);

  bool isEmpty() const { return faults_.empty(); }
  /// Counts an operation. Returns its fault, or null.
  const Fault* next();

 private:
  std::vector<Fault> faults_;  // by number
  uint64_t begun_ = 0;
};

/// Counts a context with faults while it lives, so that the probe can name them.
class FaultyContext {
 public:
  FaultyContext();
  ~FaultyContext();
  FaultyContext(const FaultyContext&) = delete;
  FaultyContext& operator=(const FaultyContext&) = delete;

  static uint64_t count();
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_FAULTS_H_
