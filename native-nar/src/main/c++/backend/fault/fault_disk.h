#ifndef DYNAMO_BACKEND_FAULT_FAULT_DISK_H_
#define DYNAMO_BACKEND_FAULT_FAULT_DISK_H_

#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "../../core/disk_io.h"
#include "../../core/faults.h"

namespace dynamo {

/// Puts the faults of a plan in the way of another disk's requests. Safe for concurrent use. Requests that
/// are held back are looked at every few milliseconds, by whoever awaits completions.
class FaultDisk final : public DiskIo {
 public:
  FaultDisk(std::unique_ptr<DiskIo> inner, FaultPlan plan)
      : plan_(std::move(plan)), inner_(std::move(inner)) {}
  ~FaultDisk() override { close(); }

  Way way() const override { return inner_->way(); }
  Status submit(const Request& request) override;
  void cancel(uint64_t ticket) override;
  std::vector<Completion> await(uint64_t maxNanos) override;
  void close() override;

 private:
  struct Freeing {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  struct Held {
    Request request;
    uint64_t due;  // when it goes on to the disk
  };

  struct Broken {
    Fault::Kind kind;
    std::byte* memory;                          // that a read is damaged in
    std::unique_ptr<std::byte, Freeing> other;  // bytes that are written instead of those asked for
  };

  Status begin(const Request& request);
  Status submitHalf(const Request& request);
  Status submitDamaged(const Request& request);
  Status submitBroken(const Request& request, Broken broken);
  void releaseHeld(uint64_t now);
  void add(std::vector<Completion> ended);

  FaultyContext counted_;
  std::mutex mutex_;  // guards the rest but the inner disk
  FaultPlan plan_;
  std::unordered_map<uint64_t, Held> held_;      // by ticket
  std::unordered_map<uint64_t, Broken> broken_;  // that the inner disk has, by ticket
  std::vector<Completion> completions_;
  size_t open_ = 0;  // requests whose completion nobody has taken
  bool closed_ = false;
  std::unique_ptr<DiskIo> inner_;  // ends before the memory that it writes
};

}  // namespace dynamo

#endif  // DYNAMO_BACKEND_FAULT_FAULT_DISK_H_
