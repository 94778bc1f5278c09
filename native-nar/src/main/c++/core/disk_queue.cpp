#include "disk_queue.h"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "clock.h"

namespace dynamo {
namespace {

constexpr int kMostRetries = 100;
constexpr uint64_t kHour = uint64_t{3600} * 1'000'000'000;

}  // namespace

Status DiskQueue::submit(const Request& request) {
  Status status = request.file->check(request.offset, request.memory, request.bytes);
  if (status != Status::kOk) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return Status::kStale;
  // Completions that nobody has taken count, too: their room is bounded as well.
  if (open_.size() + completions_.size() >= kMostRequests) return Status::kBusy;
  if (!open_.insert(request.ticket).second) return Status::kInvalid;
  waiting_.push_back({request, 0, 0, 0});
  if (request.deadlineNanos != 0 && request.deadlineNanos < firstDeadline_) {
    firstDeadline_ = request.deadlineNanos;
    ended_.notify_all();  // whoever awaits has to look earlier
  }
  wake();
  return Status::kOk;
}

void DiskQueue::cancel(uint64_t ticket) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (open_.count(ticket) == 0) return;
  auto queued = std::find_if(waiting_.begin(), waiting_.end(),
                             [ticket](const Job& job) { return job.request.ticket == ticket; });
  if (queued != waiting_.end()) {  // nobody has begun it: its end need not wait for the disk
    finish(*queued, Status::kCancelled);
    waiting_.erase(queued);
    return;
  }
  cancelled_.insert(ticket);
  wake();
}

/// Ends queued requests whose deadline has passed. The caller has the lock.
void DiskQueue::endLate(uint64_t now) {
  if (now < firstDeadline_) return;
  firstDeadline_ = kNever;
  auto late = [this, now](const Job& job) {
    uint64_t deadline = job.request.deadlineNanos;
    if (deadline == 0) return false;
    if (now < deadline) {
      firstDeadline_ = std::min(firstDeadline_, deadline);
      return false;
    }
    finish(job, Status::kTimeout);
    return true;
  };
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), late), waiting_.end());
}

std::vector<DiskIo::Completion> DiskQueue::await(uint64_t maxNanos) {
  std::unique_lock<std::mutex> lock(mutex_);
  uint64_t now = nowNanos();
  uint64_t until = now + std::min(maxNanos, kHour);
  for (;; now = nowNanos()) {
    endLate(now);
    if (!completions_.empty() || (closed_ && open_.empty()) || now >= until) break;
    ended_.wait_for(lock, std::chrono::nanoseconds(std::min(until, firstDeadline_) - now));
  }
  std::vector<Completion> taken;
  taken.swap(completions_);
  return taken;
}

uint64_t DiskQueue::pieceOf(const Job& job) { return std::min(kPieceBytes, job.request.bytes - job.done); }

Status DiskQueue::advance(Job& job, int64_t result) {
  if (result == -ECANCELED) return Status::kCancelled;
  if (result < 0) {
    bool again = (result == -EINTR || result == -EAGAIN) && ++job.retries <= kMostRetries;
    if (!again) job.error = static_cast<int>(-result);
    return again ? Status::kBusy : Status::kIo;
  }
  if (job.done == job.request.bytes) return Status::kOk;  // an empty request
  // What came beyond a multiple of the alignment comes again: the next piece has to begin at one.
  uint64_t moved = static_cast<uint64_t>(result);
  job.done += moved;
  if (job.done == job.request.bytes) return Status::kOk;
  uint64_t odd = job.done % job.request.file->offsetAlignment();
  job.done -= odd;
  return moved <= odd ? Status::kIo : Status::kBusy;  // no progress: the file ends before its size
}

Status DiskQueue::endOf(const Job& job, uint64_t now) const {
  if (closed_ || cancelled_.count(job.request.ticket) != 0) return Status::kCancelled;
  return job.request.deadlineNanos != 0 && now >= job.request.deadlineNanos ? Status::kTimeout : Status::kOk;
}

void DiskQueue::markClosed() {
  closed_ = true;
  ended_.notify_all();
}

/// The caller has the lock.
void DiskQueue::finish(const Job& job, Status status) {
  open_.erase(job.request.ticket);
  cancelled_.erase(job.request.ticket);
  completions_.push_back({job.request.ticket, status, job.done, status == Status::kIo ? job.error : 0});
  ended_.notify_all();
}

}  // namespace dynamo
