#ifndef DYNAMO_CORE_DISK_QUEUE_H_
#define DYNAMO_CORE_DISK_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "disk_io.h"
#include "status.h"

namespace dynamo {

/// What the ways to a disk have in common: the queue of requests, their ends and their completions.
class DiskQueue : public DiskIo {
 public:
  Status submit(const Request& request) override;
  void cancel(uint64_t ticket) override;
  std::vector<Completion> await(uint64_t maxNanos) override;

 protected:
  struct Job {
    Request request;
    uint64_t done = 0;
    int retries = 0;
    int error = 0;
  };

  /// Takes the kernel's result for the next piece of a job: kBusy when there is more to do.
  static Status advance(Job& job, int64_t result);
  static uint64_t pieceOf(const Job& job);
  /// The failure of a job that must not go on; kOk otherwise. The caller has the lock.
  Status endOf(const Job& job, uint64_t now) const;
  void finish(const Job& job, Status status);
  /// Takes no more requests, and wakes the one who awaits: there may be no completion to come. The caller has
  /// the lock.
  void markClosed();
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

#endif  // DYNAMO_CORE_DISK_QUEUE_H_
