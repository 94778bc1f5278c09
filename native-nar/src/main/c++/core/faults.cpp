#include "faults.h"

#include <algorithm>
#include <atomic>

namespace dynamo {
namespace {

std::atomic<uint64_t> contexts{0};

bool isValid(const Fault& fault) {
  if (fault.number == 0) return false;
  switch (fault.kind) {
    case Fault::Kind::kDelay:
      return fault.value >= 0 && fault.value <= FaultPlan::kMostDelayNanos;
    case Fault::Kind::kDrop:
    case Fault::Kind::kShort:
    case Fault::Kind::kCorrupt:
      return fault.value == 0;
    case Fault::Kind::kFail:
      return fault.value != 0 && fault.value >= static_cast<int64_t>(Status::kAuth) &&
             fault.value <= FaultPlan::kMostErrno;
  }
  return false;
}

}  // namespace

Status FaultPlan::read(const int64_t* words, size_t count, FaultPlan* plan) {
  if (count % kWords != 0 || count / kWords > kMostFaults) return Status::kInvalid;
  std::vector<Fault> faults;
  for (size_t i = 0; i < count; i += kWords) {
    Fault fault{static_cast<uint64_t>(words[i]), static_cast<Fault::Kind>(words[i + 1]), words[i + 2]};
    if (!isValid(fault)) return Status::kInvalid;
    faults.push_back(fault);
  }
  auto before = [](const Fault& a, const Fault& b) { return a.number < b.number; };
  auto same = [](const Fault& a, const Fault& b) { return a.number == b.number; };
  std::sort(faults.begin(), faults.end(), before);
  if (std::adjacent_find(faults.begin(), faults.end(), same) != faults.end()) return Status::kInvalid;
  plan->faults_ = std::move(faults);
  plan->begun_ = 0;
  return Status::kOk;
}

const Fault* FaultPlan::next() {
  begun_++;
  auto at = std::lower_bound(faults_.begin(), faults_.end(), begun_,
                             [](const Fault& fault, uint64_t number) { return fault.number < number; });
  return at != faults_.end() && at->number == begun_ ? &*at : nullptr;
}

FaultyContext::FaultyContext() { contexts.fetch_add(1); }

FaultyContext::~FaultyContext() { contexts.fetch_sub(1); }

uint64_t FaultyContext::count() { return contexts.load(); }

}  // namespace dynamo
