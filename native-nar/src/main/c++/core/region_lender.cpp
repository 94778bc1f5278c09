#include "region_lender.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace dynamo {
namespace {

constexpr int kBacklog = 128;
constexpr uint64_t kRestNanos = 100'000'000;  // without descriptors to accept with
constexpr uint64_t kLongestMillis = 3'600'000;

uint64_t nowNanos() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

uint64_t later(uint64_t now, uint64_t nanos) {
  return nanos > ~uint64_t{0} - now ? ~uint64_t{0} : now + nanos;
}

int millisUntil(uint64_t end, uint64_t now) {
  if (end == ~uint64_t{0}) return -1;
  return static_cast<int>(end <= now ? 0 : std::min((end - now) / 1'000'000 + 1, kLongestMillis));
}

}  // namespace

Status RegionLender::open(RegionTable& table, const std::string& name, std::unique_ptr<RegionLender>* opened,
                          uint64_t patienceNanos) {
  sockaddr_un address;
  socklen_t length;
  if (!loanAddress(name, &address, &length)) return Status::kInvalid;
  UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!listener.isOpen() || !wake.isOpen()) return Status::kIo;
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    return errno == EADDRINUSE ? Status::kBusy : Status::kIo;
  }
  if (listen(listener.get(), kBacklog) != 0) return Status::kIo;
  std::unique_ptr<RegionLender> made(new RegionLender(table, std::move(listener), std::move(wake)));
  made->patienceNanos_ = patienceNanos;
  made->borrowers_.reserve(kMostBorrowers);
  made->holders_.reserve(kMostHolders);
  made->thread_ = std::thread([raw = made.get()] { raw->run(); });
  *opened = std::move(made);
  return Status::kOk;
}

RegionLender::~RegionLender() { close(); }

Status RegionLender::lend(uint64_t lease, const Secret& secret, uint64_t region, uint64_t nanos,
                          Access access) {
  UniqueFd probe;
  uint64_t bytes = 0;
  Status status = table_.shareable(region, &probe, &bytes, access);
  if (status != Status::kOk) return status;
  uint64_t now = nowNanos();
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return Status::kStale;
  if (leases_.size() >= kMostLeases) {
    for (auto at = leases_.begin(); at != leases_.end();) {
      at = now >= at->second.endNanos ? leases_.erase(at) : std::next(at);
    }
  }
  if (leases_.size() >= kMostLeases) return Status::kBusy;
  return leases_.emplace(lease, Lease{secret, region, later(now, nanos), access}).second ? Status::kOk
                                                                                         : Status::kInvalid;
}

void RegionLender::end(uint64_t lease) {
  std::lock_guard<std::mutex> lock(mutex_);
  leases_.erase(lease);
  recall([lease](uint64_t held) { return held == lease; });
}

/// Hangs up on the holders of leases, who then let go; the thread finds them gone. The caller has the lock.
template <typename Chosen>
void RegionLender::recall(Chosen chosen) {
  for (const Holder& one : holders_) {
    if (chosen(one.lease)) shutdown(one.socket.get(), SHUT_RDWR);
  }
}

/// Recalls what is over by its time, and returns when the next one will be. The caller has the lock.
uint64_t RegionLender::recallLate(uint64_t now) {
  uint64_t next = ~uint64_t{0};
  recall([&](uint64_t lease) {
    auto at = leases_.find(lease);
    if (at == leases_.end()) return true;
    if (now < at->second.endNanos) next = std::min(next, at->second.endNanos);
    return now >= at->second.endNanos;
  });
  return next;
}

void RegionLender::close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    leases_.clear();
    recall([](uint64_t) { return true; });
  }
  uint64_t one = 1;
  while (write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  std::lock_guard<std::mutex> lock(joining_);
  if (thread_.joinable()) thread_.join();
}

void RegionLender::run() {
  std::vector<pollfd> waiting;
  waiting.reserve(2 + kMostBorrowers + kMostHolders);
  bool accepting = true;
  for (;;) {
    uint64_t now = nowNanos();
    borrowers_.erase(std::remove_if(borrowers_.begin(), borrowers_.end(),
                                    [now](const Borrower& one) { return now >= one.endNanos; }),
                     borrowers_.end());
    waiting.clear();
    waiting.push_back({wake_.get(), POLLIN, 0});
    uint64_t until = ~uint64_t{0};
    for (const Borrower& one : borrowers_) {
      waiting.push_back({one.socket.get(), POLLIN, 0});
      until = std::min(until, one.endNanos);
    }
    size_t asked = borrowers_.size();
    size_t holding;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      until = std::min(until, recallLate(now));
      for (const Holder& one : holders_) waiting.push_back({one.socket.get(), POLLIN, 0});
      holding = holders_.size();
    }
    if (accepting && asked < kMostBorrowers) waiting.push_back({listener_.get(), POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), millisUntil(accepting ? until : now + kRestNanos, now)) < 0) {
      if (errno != EINTR) std::this_thread::sleep_for(std::chrono::nanoseconds(kRestNanos));
      continue;
    }
    if (waiting[0].revents != 0) break;
    now = nowNanos();
    bool arrives = waiting.size() > asked + holding + 1 && waiting.back().revents != 0;
    {
      std::lock_guard<std::mutex> lock(mutex_);  // only this thread adds and removes holders
      for (size_t i = holding; i > 0; i--) {
        if (waiting[asked + i].revents != 0) {
          holders_.erase(holders_.begin() + static_cast<std::ptrdiff_t>(i - 1));
        }
      }
    }
    for (size_t i = asked; i > 0; i--) {
      if (waiting[i].revents == 0) continue;
      answer(borrowers_[i - 1].socket, now);
      borrowers_.erase(borrowers_.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
    accepting = !arrives || accept(now);
  }
  borrowers_.clear();
  std::lock_guard<std::mutex> lock(mutex_);
  holders_.clear();
}

/// Returns false when this process has no descriptors left.
bool RegionLender::accept(uint64_t now) {
  UniqueFd borrower(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!borrower.isOpen()) {
    return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
  }
  if (isSameUser(borrower.get())) borrowers_.push_back({std::move(borrower), later(now, patienceNanos_)});
  return true;
}

/// Answers a borrower that has asked, or hung up. One that does not take the answer at once gets none.
void RegionLender::answer(UniqueFd& borrower, uint64_t now) {
  LoanRequest request;
  // No room for descriptors: those that a borrower sends are dropped by the kernel.
  ssize_t length = recv(borrower.get(), &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);
  if (length != static_cast<ssize_t>(sizeof request) || request.magic != LoanRequest::kMagic) return;
  std::lock_guard<std::mutex> lock(mutex_);  // until it is sent: end() waits for it
  UniqueFd memory;
  uint64_t bytes = 0;
  Status status = find(request, now, &memory, &bytes);
  bool sent = sendAnswer(borrower.get(), {LoanAnswer::kMagic, static_cast<int32_t>(status), bytes}, memory);
  if (sent && status == Status::kOk && holders_.size() < kMostHolders) {
    holders_.push_back({std::move(borrower), request.lease});  // to be told of the lease's end
  }
}

/// The memory of a lease; the caller has the lock. A lease that is not there and a wrong secret are told
/// apart: whoever asks is of the same user.
Status RegionLender::find(const LoanRequest& request, uint64_t now, UniqueFd* memory, uint64_t* bytes) {
  auto at = leases_.find(request.lease);
  if (at == leases_.end() || now >= at->second.endNanos) return Status::kStale;
  if (!isSame(at->second.secret, request.secret)) return Status::kAuth;
  if (at->second.access != request.access) return Status::kUnsupported;
  Status status = table_.shareable(at->second.region, memory, bytes, request.access);
  return status == Status::kInvalid ? Status::kStale : status;
}

}  // namespace dynamo
