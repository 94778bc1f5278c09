#ifndef DYNAMO_CORE_TRANSFERS_H_
#define DYNAMO_CORE_TRANSFERS_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "regions.h"
#include "rings.h"
#include "status.h"

namespace dynamo {

/// Bytes of a batch that are moved in one go.
struct Piece {
  uint64_t ticket;  ///< of the batch
  uint64_t moved;   ///< bytes of the batch that were moved before
  uint64_t total;   ///< bytes of the batch
  std::byte* target;
  const std::byte* source;
  size_t length;
};

/// Moves the pieces of batches. Used by one thread at a time.
class Mover {
 public:
  virtual ~Mover() = default;
  /// Called before the first piece of a batch; end() follows, however the batch ends.
  virtual void begin(uint64_t) {}
  /// kBusy when the batch has to wait: others go on, and the same piece comes again a moment later.
  virtual Status move(const Piece& piece) = 0;
  virtual void end(uint64_t) {}
};

/// Moves pieces within this process.
class MemMover final : public Mover {
 public:
  Status move(const Piece& piece) override;
};

/// Copies batches between regions on a thread of its own, in the order of their priority and arrival. A batch
/// keeps its regions pinned until nothing touches them any more, however it ends; then its completion
/// follows. Safe for concurrent use.
///
/// The thread works in slices: between two of them it takes what has arrived, so that an urgent batch, a
/// cancellation or a deadline waits for a slice and never for a whole batch.
class Transfers {
 public:
  /// The rings' memory, which the owner keeps until close() has returned, and while it calls await().
  struct Memory {
    std::byte* submit;
    uint64_t submitBytes;
    std::byte* done;
    uint64_t doneBytes;
  };

  struct Counts {
    uint64_t completed;
    uint64_t failed;
    uint64_t bytes;
    uint64_t busyNanos;
  };

  static constexpr size_t kSliceBytes = 1 << 20;
  static constexpr size_t kSliceRanges = 4096;
  static constexpr size_t kCancels = 65536;
  static constexpr uint64_t kPauseNanos = 1'000'000;  ///< until a piece that had to wait comes again

  /// Starts the thread; kInvalid when the memory cannot be two rings.
  static Status open(RegionTable& table, Mover& mover, Memory memory, std::unique_ptr<Transfers>* opened);
  ~Transfers();
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  /// Wakes the thread: the submit ring says when that is needed.
  void kick();
  /// Waits until completions are there. Returns how many; kStale once it is closed and none is left to take,
  /// kCorrupt when the submit ring made no sense and everything ended.
  int64_t await(uint64_t maxNanos);
  /// Gives a batch up; its completion follows. Of no effect on one that has ended.
  Status cancel(uint64_t ticket);
  Counts counts() const;
  /// Whether close() has begun.
  bool isClosing() const;
  /// Lets what was submitted end, cancels what is left after `maxNanos`, and ends the thread. Idempotent.
  void close(uint64_t maxNanos);

 private:
  struct Job;
  enum class Life { kOpen, kClosing, kClosed };

  Transfers(RegionTable& table, Mover& mover, Memory memory);

  void run();
  bool isOverdue(uint64_t now) const;
  bool rest();
  void pause(uint64_t now);
  bool isIdle() const { return queues_[0].empty() && queues_[1].empty(); }
  void swapCancels();
  bool takeSubmissions();
  Status admit(uint64_t now);
  void applyCancels(bool allTaken);
  void endExpired(uint64_t now);
  void cancelAll();
  Job* ready(uint64_t now);
  void step(Job& job);
  std::unique_ptr<Job> taken(const Job& job);
  void finish(std::unique_ptr<Job> job, Status status);
  void report(uint64_t ticket, Status status, uint64_t bytes, uint64_t nanos);
  template <typename Decide>
  void sweep(Decide decide);

  RegionTable& table_;
  Mover& mover_;
  SubmitRing submissions_;  // the thread's, like all up to the mutex
  CompletionRing completions_;
  Submission arriving_;
  std::array<std::deque<std::unique_ptr<Job>>, 2> queues_;  // onboard first
  std::vector<uint64_t> given_;  // tickets of cancels that may still meet their batch, sorted
  uint64_t earliestDeadline_ = ~uint64_t{0};
  bool broken_ = false;

  std::atomic<uint64_t> completed_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> busyNanos_{0};

  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<uint64_t> cancels_;
  bool kicked_ = false;
  bool corrupt_ = false;
  Life life_ = Life::kOpen;
  uint64_t closeNanos_ = 0;

  std::mutex joining_;
  std::thread thread_;  // guarded by joining_ after the start
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_TRANSFERS_H_
