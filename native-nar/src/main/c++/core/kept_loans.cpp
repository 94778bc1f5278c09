#include "kept_loans.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace dynamo {
namespace {

constexpr auto kRest = std::chrono::milliseconds(100);  // when the kernel refuses to wait

bool isSameLease(const LoanKey& a, const LoanKey& b) {
  return a.lender == b.lender && a.lease == b.lease && a.access == b.access && isSame(a.secret, b.secret);
}

}  // namespace

Status KeptLoans::open(RegionTable& table, Limits limits, std::unique_ptr<KeptLoans>* opened) {
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.isOpen()) return errno == EMFILE || errno == ENFILE ? Status::kBusy : Status::kIo;
  std::unique_ptr<KeptLoans> made(new KeptLoans(table, limits, std::move(wake)));
  made->kept_.reserve(limits.loans + 1);
  made->thread_ = std::thread([raw = made.get()] { raw->run(); });
  *opened = std::move(made);
  return Status::kOk;
}

KeptLoans::~KeptLoans() { close(); }

Status KeptLoans::find(const LoanKey& key, uint64_t bytes, uint64_t* region) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto at = std::find_if(kept_.begin(), kept_.end(),
                         [&key](const auto& one) { return isSameLease(one->key(), key); });
  if (at == kept_.end() || (*at)->bytes() != bytes) return Status::kStale;
  *region = (*at)->region();
  std::rotate(at, at + 1, kept_.end());
  return Status::kOk;
}

bool KeptLoans::isRunning(const LoanKey& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto at = std::find_if(kept_.begin(), kept_.end(),
                         [&key](const auto& one) { return isSameLease(one->key(), key); });
  return at != kept_.end() && (*at)->isRunning();
}

void KeptLoans::keep(std::shared_ptr<RegionLoan> loan) {
  uint64_t region = loan->region();
  if (region == 0) return;
  Loans over;
  try {
    over.reserve(limits_.loans + 1);
  } catch (...) {
    table_.release(region);
    throw;
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    bool has = std::any_of(kept_.begin(), kept_.end(),
                           [&loan](const auto& one) { return isSameLease(one->key(), loan->key()); });
    if (closed_ || has || loan->bytes() > limits_.bytes || limits_.loans == 0) {
      over.push_back(std::move(loan));
    } else {
      uint64_t held = loan->bytes();
      for (const auto& one : kept_) held += one->bytes();
      kept_.push_back(std::move(loan));
      while (kept_.size() > limits_.loans || held > limits_.bytes) {
        held -= kept_.front()->bytes();
        over.push_back(std::move(kept_.front()));
        kept_.erase(kept_.begin());
      }
    }
  }
  release(over);
  wake();  // the thread watches other sockets from now on
}

void KeptLoans::release(const Loans& over) {
  for (const auto& one : over) table_.release(one->region());
}

void KeptLoans::run() {
  std::vector<pollfd> waiting;
  Loans watched;
  Loans over;
  waiting.reserve(limits_.loans + 1);
  watched.reserve(limits_.loans);
  over.reserve(limits_.loans);
  for (;;) {
    waiting.clear();
    watched.clear();
    over.clear();
    waiting.push_back({wake_.get(), POLLIN, 0});
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (closed_) return;
      for (const auto& one : kept_) {
        waiting.push_back({one->descriptor(), POLLIN, 0});
        watched.push_back(one);
      }
    }
    if (poll(waiting.data(), waiting.size(), -1) < 0) {
      if (errno != EINTR) std::this_thread::sleep_for(kRest);
      continue;
    }
    uint64_t count;
    while (waiting[0].revents != 0 && read(wake_.get(), &count, sizeof count) < 0 && errno == EINTR) {
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      for (size_t i = 0; i < watched.size(); i++) {
        if (waiting[i + 1].revents == 0) continue;
        auto at = std::find(kept_.begin(), kept_.end(), watched[i]);
        if (at == kept_.end()) continue;  // let go meanwhile
        over.push_back(std::move(*at));
        kept_.erase(at);
      }
    }
    release(over);
  }
}

void KeptLoans::wake() {
  uint64_t one = 1;
  while (write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void KeptLoans::close() {
  Loans over;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    over.swap(kept_);
  }
  release(over);
  wake();
  std::lock_guard<std::mutex> lock(joining_);
  if (thread_.joinable()) thread_.join();
}

size_t KeptLoans::size() {
  std::lock_guard<std::mutex> lock(mutex_);
  return kept_.size();
}

}  // namespace dynamo
