#include "transfers.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "clock.h"
#include "move.h"

namespace dynamo {
namespace {

constexpr uint64_t kNever = ~uint64_t{0};

/// `begin` and `nanos` after it, or the end of time.
uint64_t later(uint64_t begin, uint64_t nanos) { return nanos > kNever - begin ? kNever : begin + nanos; }

std::chrono::nanoseconds waitOf(uint64_t nanos) {
  constexpr uint64_t kHour = uint64_t{3600} * 1'000'000'000;  // the library adds this to a clock
  return std::chrono::nanoseconds(static_cast<int64_t>(std::min(nanos, kHour)));
}

}  // namespace

Status MemMover::move(const Piece& piece) {
  moveBytes(piece.target, piece.source, piece.length);
  return Status::kOk;
}

struct Transfers::Job {
  uint64_t ticket = 0;
  uint64_t deadline = kNever;
  uint64_t arrived = 0;
  RegionTable::Pin from;
  RegionTable::Pin to;
  std::vector<CopyRange> ranges;
  size_t next = 0;      // the range to work on
  uint64_t within = 0;  // bytes of it that are done
  uint64_t moved = 0;
  uint64_t total = 0;
  uint64_t waitsUntil = 0;
};

Transfers::Transfers(RegionTable& table, Mover& mover, Memory memory)
    : table_(table),
      mover_(mover),
      submissions_(memory.submit, memory.submitBytes),
      completions_(memory.done, memory.doneBytes) {
  arriving_.ranges.reserve(memory.submitBytes / sizeof(CopyRange));  // taking one needs no memory
}

Status Transfers::open(RegionTable& table, Mover& mover, Memory memory, std::unique_ptr<Transfers>* opened) {
  if (!SubmitRing::fits(memory.submitBytes) || !CompletionRing::fits(memory.doneBytes))
    return Status::kInvalid;
  std::unique_ptr<Transfers> made(new Transfers(table, mover, memory));
  made->thread_ = std::thread([raw = made.get()] { raw->run(); });
  *opened = std::move(made);
  return Status::kOk;
}

Transfers::~Transfers() { close(0); }

void Transfers::kick() {
  std::lock_guard<std::mutex> lock(mutex_);
  kicked_ = true;
  wake_.notify_one();
}

int64_t Transfers::await(uint64_t maxNanos) {
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait_for(lock, waitOf(maxNanos),
                 [this] { return completions_.waiting() != 0 || life_ == Life::kClosed || corrupt_; });
  uint64_t waiting = completions_.waiting();
  if (waiting != 0) return static_cast<int64_t>(waiting);
  if (corrupt_) return static_cast<int64_t>(Status::kCorrupt);
  return life_ == Life::kClosed ? static_cast<int64_t>(Status::kStale) : 0;
}

Status Transfers::cancel(uint64_t ticket) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (life_ == Life::kClosed) return Status::kStale;
  if (cancels_.size() >= kCancels) return Status::kBusy;
  cancels_.push_back(ticket);
  kicked_ = true;
  wake_.notify_one();
  return Status::kOk;
}

Transfers::Counts Transfers::counts() const {
  return {completed_.load(std::memory_order_relaxed), failed_.load(std::memory_order_relaxed),
          bytes_.load(std::memory_order_relaxed), busyNanos_.load(std::memory_order_relaxed)};
}

bool Transfers::isClosing() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return life_ != Life::kOpen;
}

void Transfers::close(uint64_t maxNanos) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    uint64_t until = later(nowNanos(), maxNanos);
    if (life_ == Life::kOpen) {
      life_ = Life::kClosing;
      closeNanos_ = until;
    } else {
      closeNanos_ = std::min(closeNanos_, until);
    }
    wake_.notify_one();
  }
  std::lock_guard<std::mutex> lock(joining_);
  if (thread_.joinable()) thread_.join();
}

void Transfers::run() {
  for (;;) {
    swapCancels();
    applyCancels(takeSubmissions());
    if (isIdle()) {
      if (rest()) continue;
      break;
    }
    uint64_t begin = nowNanos();
    if (isOverdue(begin)) {
      cancelAll();
    } else if (begin >= earliestDeadline_) {
      endExpired(begin);
    } else if (Job* job = ready(begin)) {
      step(*job);
      busyNanos_.fetch_add(nowNanos() - begin, std::memory_order_relaxed);
    } else {
      pause(begin);
    }
  }
  std::lock_guard<std::mutex> lock(mutex_);
  life_ = Life::kClosed;
  done_.notify_all();
}

/// Whether the time that close() gave has passed.
bool Transfers::isOverdue(uint64_t now) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return life_ == Life::kClosing && now >= closeNanos_;
}

/// Sleeps until there is something to do. Returns false when nothing will come any more.
bool Transfers::rest() {
  submissions_.setAsleep(true);  // from here on the producer kicks
  bool over;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    // While earlier cancels wait for their batches, later ones cannot be taken and must not keep it awake.
    bool takes = given_.empty();
    auto woken = [this, takes] { return kicked_ || (takes && !cancels_.empty()) || life_ == Life::kClosing; };
    if (broken_ || submissions_.isEmpty()) {
      wake_.wait(lock, woken);
    } else {
      wake_.wait_for(lock, std::chrono::milliseconds(1),
                     woken);  // nobody takes completions: no room for more
    }
    kicked_ = false;
    over = life_ == Life::kClosing && (broken_ || submissions_.isEmpty() || nowNanos() >= closeNanos_);
  }
  submissions_.setAsleep(false);
  return !over;
}

/// Sleeps while every batch has to wait, until one may go on or something comes.
void Transfers::pause(uint64_t now) {
  submissions_.setAsleep(true);
  {
    std::unique_lock<std::mutex> lock(mutex_);
    uint64_t until = std::min(later(now, kPauseNanos), earliestDeadline_);
    wake_.wait_for(lock, waitOf(until - now), [this] { return kicked_; });
    kicked_ = false;
  }
  submissions_.setAsleep(false);
}

/// Returns whether the ring was empty at the end, or will not be read any more.
bool Transfers::takeSubmissions() {
  // A slot is reserved for each batch at its arrival, so that a completion always finds room.
  while (!broken_ &&
         queues_[0].size() + queues_[1].size() + completions_.waiting() < completions_.capacity()) {
    Status taken = submissions_.take(&arriving_);
    if (taken == Status::kBusy) return true;
    if (taken == Status::kCorrupt) {
      broken_ = true;
      sweep([](const Job&) { return Status::kCorrupt; });
      std::lock_guard<std::mutex> lock(mutex_);
      corrupt_ = true;
      done_.notify_all();
      return true;
    }
    if (taken == Status::kOk) taken = admit(nowNanos());
    if (taken != Status::kOk) report(arriving_.ticket, taken, 0, 0);
  }
  return broken_ || submissions_.isEmpty();
}

Status Transfers::admit(uint64_t now) {
  try {
    auto job = std::make_unique<Job>();
    job->ticket = arriving_.ticket;
    job->arrived = now;
    Status status = table_.pin(arriving_.source, &job->from);
    if (status == Status::kOk) status = table_.pin(arriving_.target, &job->to);
    if (status == Status::kOk) {
      status = checkRanges(job->from, job->to, arriving_.source == arriving_.target, arriving_.ranges.data(),
                           arriving_.ranges.size());
    }
    if (status != Status::kOk) return status;
    if (arriving_.deadlineNanos != 0) job->deadline = arriving_.deadlineNanos;
    job->ranges = arriving_.ranges;
    job->ranges.resize(mergeRanges(job->ranges.data(), job->ranges.size()));
    for (const auto& range : job->ranges) job->total += range.length;
    uint64_t deadline = job->deadline;
    auto& queue = queues_[arriving_.onboard ? 0 : 1];
    queue.push_back(std::move(job));
    try {
      mover_.begin(arriving_.ticket);
    } catch (const std::bad_alloc&) {
      queue.pop_back();
      throw;
    }
    earliestDeadline_ = std::min(earliestDeadline_, deadline);
    return Status::kOk;
  } catch (const std::bad_alloc&) {
    return Status::kNoMemory;
  }
}

/// Ends every batch for which `decide` has something else than kOk, and finds the next deadline.
template <typename Decide>
void Transfers::sweep(Decide decide) {
  earliestDeadline_ = kNever;
  for (auto& queue : queues_) {
    size_t kept = 0;
    for (size_t i = 0; i < queue.size(); i++) {
      Status status = decide(*queue[i]);
      if (status == Status::kOk) {
        earliestDeadline_ = std::min(earliestDeadline_, queue[i]->deadline);
        if (kept != i) queue[kept] = std::move(queue[i]);
        kept++;
      } else {
        finish(std::move(queue[i]), status);
      }
    }
    while (queue.size() > kept) queue.pop_back();
  }
}

/// Takes the cancels that have come, before the submissions: each is for a batch that stands in the ring, in
/// a queue, or has ended.
void Transfers::swapCancels() {
  if (!given_.empty()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    given_.swap(cancels_);
  }
  std::sort(given_.begin(), given_.end());
}

/// Ends the batches that were cancelled. Cancels of batches for which there was no room yet are kept.
void Transfers::applyCancels(bool allTaken) {
  if (given_.empty()) return;
  sweep([&](const Job& job) {
    return std::binary_search(given_.begin(), given_.end(), job.ticket) ? Status::kCancelled : Status::kOk;
  });
  if (allTaken) given_.clear();
}

void Transfers::endExpired(uint64_t now) {
  sweep([&](const Job& job) { return now >= job.deadline ? Status::kTimeout : Status::kOk; });
}

void Transfers::cancelAll() {
  sweep([](const Job&) { return Status::kCancelled; });
}

/// The first batch, in the order of priority and arrival, that has not to wait.
Transfers::Job* Transfers::ready(uint64_t now) {
  for (auto& queue : queues_) {
    for (auto& job : queue) {
      if (now >= job->waitsUntil) return job.get();
    }
  }
  return nullptr;
}

void Transfers::step(Job& job) {
  size_t budget = kSliceBytes;
  for (size_t ranges = 0; job.next < job.ranges.size() && budget > 0 && ranges < kSliceRanges; ranges++) {
    const CopyRange& range = job.ranges[job.next];
    size_t length = static_cast<size_t>(std::min<uint64_t>(budget, range.length - job.within));
    Status status =
        mover_.move({job.ticket, job.moved, job.total, job.to.at(range.target + job.within, length),
                     job.from.at(range.source + job.within, length), length});
    if (status == Status::kBusy) {
      job.waitsUntil = later(nowNanos(), kPauseNanos);
      return;
    }
    if (status != Status::kOk) {
      finish(taken(job), status);
      return;
    }
    budget -= length;
    job.moved += length;
    job.within += length;
    if (job.within == range.length) {
      job.next++;
      job.within = 0;
    }
  }
  if (job.next == job.ranges.size()) finish(taken(job), Status::kOk);
}

/// Takes a batch out of its queue, where it mostly is the first.
std::unique_ptr<Transfers::Job> Transfers::taken(const Job& job) {
  for (auto& queue : queues_) {
    auto at = std::find_if(queue.begin(), queue.end(), [&](const auto& one) { return one.get() == &job; });
    if (at == queue.end()) continue;
    std::unique_ptr<Job> found = std::move(*at);
    queue.erase(at);
    return found;
  }
  return nullptr;
}

void Transfers::finish(std::unique_ptr<Job> job, Status status) {
  uint64_t ticket = job->ticket;
  uint64_t moved = job->moved;
  uint64_t nanos = nowNanos() - job->arrived;
  mover_.end(ticket);
  job.reset();  // whoever sees the completion finds the regions free
  report(ticket, status, moved, nanos);
}

void Transfers::report(uint64_t ticket, Status status, uint64_t bytes, uint64_t nanos) {
  (status == Status::kOk ? completed_ : failed_).fetch_add(1, std::memory_order_relaxed);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  completions_.add({ticket, static_cast<int32_t>(status),
                    static_cast<uint32_t>(std::min<uint64_t>(nanos / 1000, UINT32_MAX)), bytes, 0});
  std::lock_guard<std::mutex> lock(mutex_);
  done_.notify_one();
}

}  // namespace dynamo
