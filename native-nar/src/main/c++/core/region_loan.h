#ifndef DYNAMO_CORE_REGION_LOAN_H_
#define DYNAMO_CORE_REGION_LOAN_H_

#include <cstdint>
#include <memory>
#include <string>

#include "loan_messages.h"
#include "regions.h"
#include "shared_memory.h"
#include "status.h"

namespace dynamo {

/// What names a lease on this host, and shows the right to it.
struct LoanKey {
  std::string lender;
  uint64_t lease;
  Secret secret;
  Access access = Access::kWrite;  // the one that the lease is for; another one is refused
};

/// Asks another process of this host for the memory of a region that it lends. The lender hangs up when the
/// lease is over. Safe for concurrent use by one thread that awaits and others that give up.
class RegionLoan {
 public:
  /// Sends the question, without waiting. kPeerLost when no such lender is in reach, kAuth when it is another
  /// user's, kBusy when too many ask it.
  static Status ask(const LoanKey& key, std::unique_ptr<RegionLoan>* asked);

  /// Waits for the answer, at most `maxNanos`; kBusy when it has not come yet. The region that comes with kOk
  /// has to have `bytes` bytes, and is the caller's.
  Status await(RegionTable& table, uint64_t bytes, uint64_t maxNanos, uint64_t* region);

  /// Whether the lease still runs: then bytes that this thread has read from the region are older than its
  /// end. False is also said of one that the lender cannot watch.
  bool isRunning() const;

  /// Lets a thread that waits end with kCancelled.
  void giveUp();

  const LoanKey& key() const { return key_; }
  /// To be polled: whatever happens there says that the lease is over.
  int descriptor() const { return socket_.get(); }
  /// The region that await() brought, and its size; 0 before.
  uint64_t region() const { return region_; }
  uint64_t bytes() const { return bytes_; }

 private:
  RegionLoan(LoanKey key, UniqueFd socket) : key_(std::move(key)), socket_(std::move(socket)) {}

  const LoanKey key_;
  UniqueFd socket_;
  uint64_t region_ = 0;  // written by await(), read after it
  uint64_t bytes_ = 0;
  std::atomic<bool> givenUp_{false};
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_REGION_LOAN_H_
