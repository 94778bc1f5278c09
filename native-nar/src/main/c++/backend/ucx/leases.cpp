#include "leases.h"

#include <algorithm>
#include <cstring>

#include "../../core/clock.h"
#include "offer.h"

namespace dynamo::ucx {

Event Leases::lend(UcpContext context, uint64_t ticket, const Lend& what) {
  if (all_.size() >= kMost) return {ticket, Status::kBusy, 0, 0, ""};
  if (what.endNanos <= nowNanos()) return {ticket, Status::kStale, 0, 0, ""};
  auto lease = std::make_unique<Lease>();
  lease->region = what.region;
  lease->endNanos = what.endNanos;
  Status pinned = table_.pin(what.region, &lease->pin);
  if (pinned != Status::kOk) return {ticket, pinned, 0, 0, ""};
  uint64_t size = lease->pin.size();
  std::byte* base = lease->pin.at(0, size);
  UcpStatus status = kUcpOk;
  auto refused = [&](const char* why) {
    return Event{ticket, status == kUcpNoMemory ? Status::kNoMemory : Status::kBackend, status, 0, why};
  };
  lease->memory = MemoryRegistration::map(capi_, context, base, size,
                                          UcpMemoryParams::kLocalRead | UcpMemoryParams::kLocalWrite |
                                              UcpMemoryParams::kRemoteWrite | UcpMemoryParams::kRemoteRead,
                                          &status);
  if (lease->memory == nullptr) return refused("UCX does not register the region");
  lease->proof =
      Page::make(capi_, context, UcpMemoryParams::kLocalRead | UcpMemoryParams::kRemoteRead, &status);
  if (lease->proof.registered == nullptr) return refused("UCX does not register a page");
  std::memset(lease->proof.bytes.get(), 0, Page::kBytes);
  std::memcpy(lease->proof.bytes.get(), what.proof.data(), what.proof.size());
  lease->worker = Worker::make(capi_, context, &status);
  if (lease->worker == nullptr) return refused("UCX makes no worker");
  Offer offer{lease->worker->address(),
              lease->memory->key(),
              lease->proof.registered->key(),
              reinterpret_cast<uint64_t>(base),
              size,
              reinterpret_cast<uint64_t>(lease->proof.bytes.get())};
  if (offer.worker.empty() || offer.regionKey.empty() || offer.proofKey.empty()) {
    return refused("UCX gives no address or key");
  }
  uint64_t id = next_++;
  all_[id] = std::move(lease);
  return {ticket, Status::kOk, 0, id, offer.encoded()};
}

bool Leases::isReleased(uint64_t region) {
  RegionTable::Pin look;
  return table_.pin(region, &look) == Status::kStale;
}

void Leases::endLate(uint64_t now) {
  for (auto at = all_.begin(); at != all_.end();) {
    bool isOver = at->second->endNanos <= now || isReleased(at->second->region);
    at = isOver ? all_.erase(at) : std::next(at);
  }
}

uint64_t Leases::nextEnd() const {
  uint64_t next = ~uint64_t{0};
  for (const auto& entry : all_) next = std::min(next, entry.second->endNanos);
  return next;
}

bool Leases::progress() {
  bool any = false;
  for (auto& entry : all_) any |= entry.second->worker->progress();
  return any;
}

bool Leases::arm() {
  bool isQuiet = true;
  for (auto& entry : all_) isQuiet &= entry.second->worker->arm();
  return isQuiet;
}

void Leases::addDescriptors(std::vector<int>* all) const {
  for (const auto& entry : all_) all->push_back(entry.second->worker->descriptor());
}

}  // namespace dynamo::ucx
