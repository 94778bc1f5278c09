#ifndef DYNAMO_BACKEND_UCX_LEASES_H_
#define DYNAMO_BACKEND_UCX_LEASES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "../../core/regions.h"
#include "memory_registration.h"
#include "messages.h"
#include "worker.h"

namespace dynamo::ucx {

/// The regions of this process that others write into by UCX. For one thread.
///
/// Each has a worker of its own, which ends with the lease: where the network card moves bytes, the key is
/// void from then on, and where UCX emulates that by messages, nobody takes them any more. A key alone does
/// not stop emulated writes, which go to any address that the peer names.
class Leases {
 public:
  static constexpr size_t kMost = 1024;

  Leases(const Capi& capi, RegionTable& table) : capi_(capi), table_(table) {}

  /// The event of a region that is lent, or is not.
  Event lend(UcpContext context, uint64_t ticket, const Lend& what);
  /// Of no effect on a lease that is over.
  void end(uint64_t lease) { all_.erase(lease); }
  /// Ends the leases whose time is over, and those of regions that were released.
  void endLate(uint64_t now);
  void endAll() { all_.clear(); }
  /// The time at which the next lease is over; the largest number without one.
  uint64_t nextEnd() const;
  bool isEmpty() const { return all_.empty(); }

  bool progress();
  bool arm();
  void addDescriptors(std::vector<int>* all) const;

 private:
  struct Lease {
    uint64_t region;
    uint64_t endNanos;
    RegionTable::Pin pin;
    Page proof;
    std::unique_ptr<MemoryRegistration> memory;
    std::unique_ptr<Worker> worker;  // the last, so that it ends first
  };

  bool isReleased(uint64_t region);

  const Capi& capi_;
  RegionTable& table_;
  std::map<uint64_t, std::unique_ptr<Lease>> all_;
  uint64_t next_ = 1;
};

}  // namespace dynamo::ucx

#endif  // DYNAMO_BACKEND_UCX_LEASES_H_
