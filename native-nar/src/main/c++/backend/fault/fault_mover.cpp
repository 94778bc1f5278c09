#include "fault_mover.h"

#include <algorithm>

#include "../../core/clock.h"

namespace dynamo {

void FaultMover::begin(uint64_t ticket) {
  const Fault* fault = plan_.next();
  if (fault == nullptr) return;
  uint64_t late = fault->kind == Fault::Kind::kDelay ? static_cast<uint64_t>(fault->value) : 0;
  broken_.emplace(ticket, Broken{*fault, nowNanos() + late, false});
}

void FaultMover::end(uint64_t ticket) { broken_.erase(ticket); }

Status FaultMover::move(const Piece& piece) {
  auto found = broken_.find(piece.ticket);
  if (found == broken_.end()) return inner_.move(piece);
  Broken& batch = found->second;
  switch (batch.fault.kind) {
    case Fault::Kind::kDelay:
      return nowNanos() < batch.due ? Status::kBusy : inner_.move(piece);
    case Fault::Kind::kDrop:
      return Status::kBusy;
    case Fault::Kind::kShort:
      return moveHalf(piece);
    case Fault::Kind::kCorrupt:
      return moveDamaged(piece, batch);
    case Fault::Kind::kFail:
      return batch.fault.status();
  }
  return Status::kBackend;
}

Status FaultMover::moveHalf(const Piece& piece) {
  uint64_t half = piece.total / 2;
  if (piece.moved + piece.length <= half) return inner_.move(piece);
  Piece part = piece;
  part.length = static_cast<size_t>(half - std::min(half, piece.moved));
  Status status = part.length == 0 ? Status::kOk : inner_.move(part);
  return status == Status::kOk ? Status::kIo : status;
}

Status FaultMover::moveDamaged(const Piece& piece, Broken& batch) {
  Status status = inner_.move(piece);
  if (status == Status::kOk && !batch.damaged && piece.length > 0) {
    piece.target[0] ^= std::byte{1};
    batch.damaged = true;
  }
  return status;
}

}  // namespace dynamo
