#ifndef DYNAMO_CORE_REGION_LENDER_H_
#define DYNAMO_CORE_REGION_LENDER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "loan_messages.h"
#include "regions.h"
#include "shared_memory.h"
#include "status.h"

namespace dynamo {

/// Passes the memory of regions to processes of this host that know their leases' secrets, on a thread of its
/// own. Processes of other users are refused before they are heard. Who has got memory is told of the end of
/// its lease, by hanging up, so that it lets go. Safe for concurrent use; no call waits but close().
class RegionLender {
 public:
  static constexpr size_t kMostLeases = 1024;
  static constexpr size_t kMostBorrowers = 64;  // that have not asked yet
  static constexpr size_t kMostHolders = 1024;  // that are told; more have to ask again
  static constexpr uint64_t kPatienceNanos = uint64_t{2'000'000'000};  // with one of them

  /// Listens under a name that nobody else has.
  static Status open(RegionTable& table, const std::string& name, std::unique_ptr<RegionLender>* opened,
                     uint64_t patienceNanos = kPatienceNanos);
  ~RegionLender();
  RegionLender(const RegionLender&) = delete;
  RegionLender& operator=(const RegionLender&) = delete;

  /// Lends a shared region for `nanos`.
  Status lend(uint64_t lease, const Secret& secret, uint64_t region, uint64_t nanos,
              Access access = Access::kWrite);
  /// Ends a lease: no descriptor leaves for it once this has returned, and whoever has its memory is told,
  /// which a reader sees before it sees a byte that is put there from now on. Of
  /// no effect on one that has ended.
  void end(uint64_t lease);
  /// Ends all leases, as end() does, and then the thread. Idempotent.
  void close();

 private:
  struct Lease {
    Secret secret;
    uint64_t region;
    uint64_t endNanos;
    Access access;
  };
  struct Borrower {
    UniqueFd socket;
    uint64_t endNanos;
  };
  struct Holder {
    UniqueFd socket;
    uint64_t lease;
  };

  RegionLender(RegionTable& table, UniqueFd listener, UniqueFd wake)
      : table_(table), listener_(std::move(listener)), wake_(std::move(wake)) {}

  void run();
  bool accept(uint64_t now);
  void answer(UniqueFd& borrower, uint64_t now);
  template <typename Chosen>
  void recall(Chosen chosen);
  uint64_t recallLate(uint64_t now);
  Status find(const LoanRequest& request, uint64_t now, UniqueFd* memory, uint64_t* bytes);

  RegionTable& table_;
  UniqueFd listener_;
  UniqueFd wake_;
  uint64_t patienceNanos_ = kPatienceNanos;
  std::vector<Borrower> borrowers_;  // the thread's

  std::mutex mutex_;  // guards the rest but the thread
  std::unordered_map<uint64_t, Lease> leases_;
  std::vector<Holder> holders_;  // changed by the thread only
  bool closed_ = false;

  std::mutex joining_;
  std::thread thread_;  // guarded by joining_ after the start
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_REGION_LENDER_H_
