#ifndef DYNAMO_CORE_KEPT_LOANS_H_
#define DYNAMO_CORE_KEPT_LOANS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "region_loan.h"
#include "regions.h"
#include "status.h"

namespace dynamo {

/// Memory of other processes that stays mapped between two copies under one lease: mapping it costs about as
/// much as a copy. A thread of its own lets go as soon as the lender hangs up, which is how a lease ends,
/// also by the death of the lender; the least recently used goes when there is no room. Safe for concurrent
/// use; no call waits but close().
class KeptLoans {
 public:
  struct Limits {
    size_t loans;
    uint64_t bytes;
  };
  static constexpr Limits kLimits{64, uint64_t{8} << 30};

  static Status open(RegionTable& table, Limits limits, std::unique_ptr<KeptLoans>* opened);
  ~KeptLoans();
  KeptLoans(const KeptLoans&) = delete;
  KeptLoans& operator=(const KeptLoans&) = delete;

  /// The region of a lease, which may be released at any moment: an operation pins it, and finds it stale
  /// when the lease is over. kStale when there is none of that key and size.
  Status find(const LoanKey& key, uint64_t bytes, uint64_t* region);
  /// Whether the lease of such a region still runs: see RegionLoan::isRunning().
  bool isRunning(const LoanKey& key);
  /// Takes a loan over, with the region that it brought, and releases that sooner or later.
  void keep(std::shared_ptr<RegionLoan> loan);
  /// Releases all regions and ends the thread. Idempotent.
  void close();

  size_t size();

 private:
  using Loans = std::vector<std::shared_ptr<RegionLoan>>;

  KeptLoans(RegionTable& table, Limits limits, UniqueFd wake)
      : table_(table), limits_(limits), wake_(std::move(wake)) {}

  void run();
  void wake();
  void release(const Loans& over);

  RegionTable& table_;
  const Limits limits_;
  UniqueFd wake_;

  std::mutex mutex_;  // guards the rest but the thread
  Loans kept_;        // the least recently used first
  bool closed_ = false;

  std::mutex joining_;
  std::thread thread_;  // guarded by joining_ after the start
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_KEPT_LOANS_H_
