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
constexpr int kRestMillis = 100;  // without descriptors to accept with

uint64_t nowNanos() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

uint64_t later(uint64_t now, uint64_t nanos) {
  return nanos > ~uint64_t{0} - now ? ~uint64_t{0} : now + nanos;
}

/// Compares in a time that does not depend on where they differ.
bool isSame(const Secret& a, const Secret& b) {
  unsigned different = 0;
  for (size_t i = 0; i < a.size(); i++) different |= static_cast<unsigned>(a[i] ^ b[i]);
  return different == 0;
}

}  // namespace

Status RegionLender::open(RegionTable& table, const std::string& name,
                          std::unique_ptr<RegionLender>* opened) {
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
  made->borrowers_.reserve(kMostBorrowers);
  made->thread_ = std::thread([raw = made.get()] { raw->run(); });
  *opened = std::move(made);
  return Status::kOk;
}

RegionLender::~RegionLender() { close(); }

Status RegionLender::lend(uint64_t lease, const Secret& secret, uint64_t region, uint64_t nanos) {
  UniqueFd probe;
  uint64_t bytes = 0;
  Status status = table_.shareable(region, &probe, &bytes);
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
  return leases_.emplace(lease, Lease{secret, region, later(now, nanos)}).second ? Status::kOk
                                                                                 : Status::kInvalid;
}

void RegionLender::end(uint64_t lease) {
  std::lock_guard<std::mutex> lock(mutex_);
  leases_.erase(lease);
}

void RegionLender::close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    leases_.clear();
  }
  uint64_t one = 1;
  while (write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  std::lock_guard<std::mutex> lock(joining_);
  if (thread_.joinable()) thread_.join();
}

void RegionLender::run() {
  std::vector<pollfd> waiting;
  waiting.reserve(2 + kMostBorrowers);
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
    if (accepting && borrowers_.size() < kMostBorrowers) waiting.push_back({listener_.get(), POLLIN, 0});
    int millis = until == ~uint64_t{0} ? -1 : static_cast<int>((until - now) / 1'000'000 + 1);
    if (!accepting) millis = kRestMillis;
    if (poll(waiting.data(), waiting.size(), millis) < 0) {
      if (errno != EINTR) std::this_thread::sleep_for(std::chrono::milliseconds(kRestMillis));
      continue;
    }
    if (waiting[0].revents != 0) break;
    now = nowNanos();
    size_t asked = borrowers_.size();
    bool arrives = waiting.size() > asked + 1 && waiting.back().revents != 0;
    for (size_t i = asked; i > 0; i--) {
      if (waiting[i].revents == 0) continue;
      answer(borrowers_[i - 1].socket, now);
      borrowers_.erase(borrowers_.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
    accepting = !arrives || accept(now);
  }
  borrowers_.clear();
}

/// Returns false when this process has no descriptors left.
bool RegionLender::accept(uint64_t now) {
  UniqueFd borrower(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!borrower.isOpen()) {
    return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
  }
  if (isSameUser(borrower.get())) borrowers_.push_back({std::move(borrower), later(now, kPatienceNanos)});
  return true;
}

/// Answers a borrower that has asked, or hung up. One that does not take the answer at once gets none.
void RegionLender::answer(const UniqueFd& borrower, uint64_t now) {
  LoanRequest request;
  // No room for descriptors: those that a borrower sends are dropped by the kernel.
  ssize_t length = recv(borrower.get(), &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);
  if (length != static_cast<ssize_t>(sizeof request) || request.magic != LoanRequest::kMagic) return;
  std::lock_guard<std::mutex> lock(mutex_);  // until it is sent: end() waits for it
  UniqueFd memory;
  uint64_t bytes = 0;
  Status status = find(request, now, &memory, &bytes);
  sendAnswer(borrower.get(), {LoanAnswer::kMagic, static_cast<int32_t>(status), bytes}, memory);
}

/// The memory of a lease; the caller has the lock. A lease that is not there and a wrong secret are told
/// apart: whoever asks is of the same user.
Status RegionLender::find(const LoanRequest& request, uint64_t now, UniqueFd* memory, uint64_t* bytes) {
  auto at = leases_.find(request.lease);
  if (at == leases_.end() || now >= at->second.endNanos) return Status::kStale;
  if (!isSame(at->second.secret, request.secret)) return Status::kAuth;
  Status status = table_.shareable(at->second.region, memory, bytes);
  return status == Status::kInvalid ? Status::kStale : status;
}

}  // namespace dynamo
