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

/// Asks another process of this host for the memory of a region that it lends. Safe for concurrent use by one
/// thread that awaits and others that give up.
class RegionLoan {
 public:
  /// Sends the question, without waiting. kPeerLost when no such lender is in reach, kAuth when it is another
  /// user's, kBusy when too many ask it.
  static Status ask(const std::string& lender, uint64_t lease, const Secret& secret,
                    std::unique_ptr<RegionLoan>* asked);

  /// Waits for the answer, at most `maxNanos`; kBusy when it has not come yet. The region that comes with kOk
  /// has to have `bytes` bytes, and is the caller's.
  Status await(RegionTable& table, uint64_t bytes, uint64_t maxNanos, uint64_t* region);

  /// Lets a thread that waits end with kCancelled.
  void giveUp();

 private:
  explicit RegionLoan(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
  std::atomic<bool> givenUp_{false};
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_REGION_LOAN_H_
