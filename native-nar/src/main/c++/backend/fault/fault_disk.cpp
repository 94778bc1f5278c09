#include "fault_disk.h"

#include <algorithm>
#include <cstring>

#include "../../core/clock.h"

namespace dynamo {
namespace {

constexpr uint64_t kNever = ~uint64_t{0};
constexpr uint64_t kLookNanos = 2'000'000;
constexpr size_t kPage = 4096;

}  // namespace

Status FaultDisk::submit(const Request& request) {
  Status status = request.file->check(request.offset, request.memory, request.bytes);
  if (status != Status::kOk) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return Status::kStale;
  if (open_ >= kMostRequests) return Status::kBusy;
  if (held_.count(request.ticket) != 0) return Status::kInvalid;
  status = begin(request);
  if (status == Status::kOk) open_++;
  return status;
}

/// The caller has the lock.
Status FaultDisk::begin(const Request& request) {
  const Fault* fault = plan_.next();
  if (fault == nullptr) return inner_->submit(request);
  switch (fault->kind) {
    case Fault::Kind::kDelay:
      held_.emplace(request.ticket, Held{request, nowNanos() + static_cast<uint64_t>(fault->value)});
      return Status::kOk;
    case Fault::Kind::kDrop:
      held_.emplace(request.ticket, Held{request, kNever});
      return Status::kOk;
    case Fault::Kind::kShort:
      return submitHalf(request);
    case Fault::Kind::kCorrupt:
      return submitDamaged(request);
    case Fault::Kind::kFail:
      completions_.push_back({request.ticket, fault->status(), 0, fault->error()});
      return Status::kOk;
  }
  return Status::kBackend;
}

Status FaultDisk::submitHalf(const Request& request) {
  Request half = request;
  half.bytes = request.bytes / 2 / request.file->offsetAlignment() * request.file->offsetAlignment();
  return submitBroken(half, {Fault::Kind::kShort, nullptr, nullptr});
}

Status FaultDisk::submitDamaged(const Request& request) {
  Broken broken{Fault::Kind::kCorrupt, nullptr, nullptr};
  if (request.bytes == 0) return submitBroken(request, std::move(broken));
  if (!request.write) {
    broken.memory = request.memory;
    return submitBroken(request, std::move(broken));
  }
  void* copy = nullptr;  // what was asked for stays as it is
  size_t alignment = std::max<size_t>(kPage, request.file->memoryAlignment());
  if (posix_memalign(&copy, alignment, request.bytes) != 0) return Status::kNoMemory;
  broken.other.reset(static_cast<std::byte*>(copy));
  std::memcpy(copy, request.memory, request.bytes);
  broken.other.get()[0] ^= std::byte{1};
  Request other = request;
  other.memory = broken.other.get();
  return submitBroken(other, std::move(broken));
}

Status FaultDisk::submitBroken(const Request& request, Broken broken) {
  if (!broken_.emplace(request.ticket, std::move(broken)).second) return Status::kInvalid;
  Status status = inner_->submit(request);
  if (status != Status::kOk) broken_.erase(request.ticket);
  return status;
}

void FaultDisk::cancel(uint64_t ticket) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (held_.erase(ticket) != 0) {
      completions_.push_back({ticket, Status::kCancelled, 0, 0});
      return;
    }
  }
  inner_->cancel(ticket);
}

/// Ends held requests whose deadline has passed, and lets those go whose time has come. The caller has the
/// lock.
void FaultDisk::releaseHeld(uint64_t now) {
  for (auto at = held_.begin(); at != held_.end();) {
    const Request& request = at->second.request;
    bool late = request.deadlineNanos != 0 && now >= request.deadlineNanos;
    if (!late && now < at->second.due) {
      ++at;
      continue;
    }
    Status status = late ? Status::kTimeout : inner_->submit(request);
    if (status != Status::kOk) completions_.push_back({request.ticket, status, 0, 0});
    at = held_.erase(at);
  }
}

/// Adds completions of the inner disk, as the faults have them. The caller has the lock.
void FaultDisk::add(std::vector<Completion> ended) {
  for (auto& one : ended) {
    auto found = broken_.find(one.ticket);
    if (found != broken_.end()) {
      bool isShort = found->second.kind == Fault::Kind::kShort;
      if (one.status == Status::kOk && isShort) one.status = Status::kIo;
      if (one.status == Status::kOk && found->second.memory != nullptr) {
        found->second.memory[0] ^= std::byte{1};
      }
      broken_.erase(found);
    }
    completions_.push_back(one);
  }
}

std::vector<DiskIo::Completion> FaultDisk::await(uint64_t maxNanos) {
  uint64_t now = nowNanos();
  uint64_t until = maxNanos > kNever - now ? kNever : now + maxNanos;
  std::vector<Completion> taken;
  for (;; now = nowNanos()) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      releaseHeld(now);
    }
    std::vector<Completion> ended = inner_->await(std::min(kLookNanos, until > now ? until - now : 0));
    std::lock_guard<std::mutex> lock(mutex_);
    bool isOver = closed_ && held_.empty() && ended.empty();
    add(std::move(ended));
    if (!completions_.empty() || isOver || now >= until) {
      taken.swap(completions_);
      open_ -= taken.size();
      return taken;
    }
  }
}

void FaultDisk::close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    for (const auto& one : held_) completions_.push_back({one.first, Status::kCancelled, 0, 0});
    held_.clear();
  }
  inner_->close();
}

}  // namespace dynamo
