#include "disk_io.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "disk_ring.h"

namespace dynamo {
namespace {

constexpr int kMostRetries = 100;
constexpr size_t kThreads = 4;
constexpr uint64_t kHour = uint64_t{3600} * 1'000'000'000;

/// The way without io_uring: threads that wait for the disk.
class ThreadDiskIo final : public DiskIo {
 public:
  ThreadDiskIo() {
    try {
      for (size_t i = 0; i < kThreads; i++) threads_.emplace_back([this] { run(); });
    } catch (...) {
      close();  // a thread that runs must be joined before it is destroyed
      throw;
    }
  }
  ~ThreadDiskIo() override { close(); }

  Way way() const override { return Way::kThreads; }

  void close() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
      arrived_.notify_all();
    }
    std::lock_guard<std::mutex> lock(joining_);
    for (auto& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 protected:
  void wake() override { arrived_.notify_one(); }

 private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      arrived_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      Job job = waiting_.front();
      waiting_.pop_front();
      Status status = Status::kBusy;
      while (status == Status::kBusy) {
        status = endOf(job, nowNanos());
        if (status != Status::kOk) break;
        lock.unlock();
        status = advance(job, move(job));
        lock.lock();
      }
      finish(job, status);
    }
  }

  static int64_t move(const Job& job) {
    const Request& request = job.request;
    auto at = static_cast<off_t>(request.offset + job.done);
    std::byte* memory = request.memory + job.done;
    int fd = request.file->descriptor();
    ssize_t length =
        request.write ? pwrite(fd, memory, pieceOf(job), at) : pread(fd, memory, pieceOf(job), at);
    return length < 0 ? -int64_t{errno} : length;
  }

  std::mutex joining_;
  std::vector<std::thread> threads_;
};

}  // namespace

Status DiskIo::open(Way way, std::unique_ptr<DiskIo>* opened, const char** why) {
  *why = "";
  if (way != Way::kThreads) {
    int error = 0;
    *opened = openRingDiskIo(&error);
    if (*opened != nullptr) return Status::kOk;
    *why = error == EPERM    ? "io_uring is forbidden here (EPERM)"
           : error == ENOSYS ? "this kernel has no io_uring (ENOSYS)"
                             : "io_uring cannot be set up here";
    if (way == Way::kRing) return Status::kIo;
  }
  *opened = std::make_unique<ThreadDiskIo>();
  return Status::kOk;
}

Status DiskIo::submit(const Request& request) {
  Status status = request.file->check(request.offset, request.memory, request.bytes);
  if (status != Status::kOk) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return Status::kStale;
  // Completions that nobody has taken count, too: their room is bounded as well.
  if (open_.size() + completions_.size() >= kMostRequests) return Status::kBusy;
  if (!open_.insert(request.ticket).second) return Status::kInvalid;
  waiting_.push_back({request});
  if (request.deadlineNanos != 0 && request.deadlineNanos < firstDeadline_) {
    firstDeadline_ = request.deadlineNanos;
    ended_.notify_all();  // whoever awaits has to look earlier
  }
  wake();
  return Status::kOk;
}

void DiskIo::cancel(uint64_t ticket) {
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
void DiskIo::endLate(uint64_t now) {
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

std::vector<DiskIo::Completion> DiskIo::await(uint64_t maxNanos) {
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

uint64_t DiskIo::nowNanos() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

uint64_t DiskIo::pieceOf(const Job& job) { return std::min(kPieceBytes, job.request.bytes - job.done); }

Status DiskIo::advance(Job& job, int64_t result) {
  if (result == -EINTR || result == -EAGAIN) {
    return ++job.retries > kMostRetries ? Status::kIo : Status::kBusy;
  }
  if (result < 0) return result == -ECANCELED ? Status::kCancelled : Status::kIo;
  if (job.done == job.request.bytes) return Status::kOk;  // an empty request
  // What came beyond a multiple of the alignment comes again: the next piece has to begin at one.
  uint64_t moved = static_cast<uint64_t>(result);
  job.done += moved;
  if (job.done == job.request.bytes) return Status::kOk;
  uint64_t odd = job.done % job.request.file->offsetAlignment();
  job.done -= odd;
  return moved <= odd ? Status::kIo : Status::kBusy;  // no progress: the file ends before its size
}

Status DiskIo::endOf(const Job& job, uint64_t now) const {
  if (closed_ || cancelled_.count(job.request.ticket) != 0) return Status::kCancelled;
  return job.request.deadlineNanos != 0 && now >= job.request.deadlineNanos ? Status::kTimeout : Status::kOk;
}

/// The caller has the lock.
void DiskIo::finish(const Job& job, Status status) {
  open_.erase(job.request.ticket);
  cancelled_.erase(job.request.ticket);
  completions_.push_back({job.request.ticket, status, job.done});
  ended_.notify_all();
}

}  // namespace dynamo
