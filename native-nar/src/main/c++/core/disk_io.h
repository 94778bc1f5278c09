#ifndef DYNAMO_CORE_DISK_IO_H_
#define DYNAMO_CORE_DISK_IO_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "disk_file.h"
#include "status.h"

namespace dynamo {

/// Reads and writes ranges of files in the background. Each request ends once, with all its bytes or a
/// failure; short results of the kernel are continued. Its memory and its file have to stay until then: also
/// after a cancel, or the end of its deadline, the kernel may use them. Safe for concurrent use.
class DiskIo {
 public:
  enum class Way { kBest, kRing, kThreads };

  struct Request {
    uint64_t ticket;
    bool write;
    const DiskFile* file;
    uint64_t offset;
    std::byte* memory;
    uint64_t bytes;
    uint64_t deadlineNanos;  // of the steady clock; 0 for none
  };

  struct Completion {
    uint64_t ticket;
    Status status;
    uint64_t bytes;  // that were moved, also by one that failed
  };

  static constexpr size_t kMostRequests = 4096;
  static constexpr uint64_t kPieceBytes = uint64_t{1} << 20;  // a cancel waits for no more than one

  /// kBest takes a ring, or threads where the kernel forbids rings (containers do); `why` says so.
  /// kIo when the way that is asked for cannot be had.
  static Status open(Way way, std::unique_ptr<DiskIo>* opened, const char** why);
  virtual ~DiskIo() = default;
  DiskIo(const DiskIo&) = delete;
  DiskIo& operator=(const DiskIo&) = delete;

  virtual Way way() const = 0;
  /// Begins a request. kRange or kInvalid when it can never be right, kBusy when too many run, kStale when
  /// closed.
  Status submit(const Request& request);
  /// Gives a request up; its completion follows, at once when nobody has begun it. Of no effect on one that
  /// has ended.
  void cancel(uint64_t ticket);
  /// Waits for completions; none when `maxNanos` passes, or it is closed and all have been taken. Meanwhile
  /// ends queued requests whose deadline passes, however long the disk takes with those before them.
  std::vector<Completion> await(uint64_t maxNanos);
  /// Cancels what runs, and returns when the kernel touches none of it any more. Idempotent.
  virtual void close() = 0;

 protected:
  struct Job {
    Request request;
    uint64_t done = 0;
    int retries = 0;
  };

  DiskIo() = default;

  /// Takes the kernel's result for the next piece of a job: kBusy when there is more to do.
  static Status advance(Job& job, int64_t result);
  static uint64_t pieceOf(const Job& job);
  static uint64_t nowNanos();
  /// The failure of a job that must not go on; kOk otherwise. The caller has the lock.
  Status endOf(const Job& job, uint64_t now) const;
  void finish(const Job& job, Status status);
  virtual void wake() = 0;

  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable arrived_;
  std::deque<Job> waiting_;
  std::unordered_set<uint64_t> cancelled_;  // of requests that have not ended
  std::unordered_set<uint64_t> open_;
  bool closed_ = false;

 private:
  static constexpr uint64_t kNever = ~uint64_t{0};

  void endLate(uint64_t now);

  std::condition_variable ended_;
  uint64_t firstDeadline_ = kNever;  // of queued requests; never too late
  std::vector<Completion> completions_;
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_DISK_IO_H_
