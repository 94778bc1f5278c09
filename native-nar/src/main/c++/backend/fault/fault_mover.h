#ifndef DYNAMO_BACKEND_FAULT_FAULT_MOVER_H_
#define DYNAMO_BACKEND_FAULT_FAULT_MOVER_H_

#include <unordered_map>

#include "../../core/faults.h"
#include "../../core/transfers.h"

namespace dynamo {

/// Puts the faults of a plan in the way of another mover's batches. Used by one transfer thread.
class FaultMover final : public Mover {
 public:
  FaultMover(Mover& inner, FaultPlan plan) : inner_(inner), plan_(std::move(plan)) {}

  void begin(uint64_t ticket) override;
  Status move(const Piece& piece) override;
  void end(uint64_t ticket) override;

 private:
  struct Broken {
    Fault fault;
    uint64_t due;  // when one that is late begins
    bool damaged;
  };

  Status moveHalf(const Piece& piece);
  Status moveDamaged(const Piece& piece, Broken& batch);

  FaultyContext counted_;
  Mover& inner_;
  FaultPlan plan_;
  std::unordered_map<uint64_t, Broken> broken_;  // batches that run, by ticket
};

}  // namespace dynamo

#endif  // DYNAMO_BACKEND_FAULT_FAULT_MOVER_H_
