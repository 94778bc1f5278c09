#include "session.h"

#include <algorithm>

#include "../../core/clock.h"
#include "offer.h"

namespace dynamo::ucx {
namespace {

constexpr uint64_t kNever = ~uint64_t{0};
constexpr uint64_t kCloseNanos = 2'000'000'000;

/// Compares in a time that does not depend on the bytes.
bool isSame(const Proof& one, const Proof& other) {
  uint8_t difference = 0;
  for (size_t i = 0; i < one.size(); i++) difference = static_cast<uint8_t>(difference | (one[i] ^ other[i]));
  return difference == 0;
}

}  // namespace

bool Session::open(const Plan& plan, std::string* why) {
  isRdmaRequired_ = plan.isRdmaRequired;
  context_ = makeContext(capi_, plan.transports, why);
  if (context_ == nullptr) return false;
  UcpStatus status = kUcpOk;
  worker_ = Worker::make(capi_, context_, &status);
  if (worker_ == nullptr) *why = "UCX makes no worker, status " + std::to_string(status);
  return worker_ != nullptr;
}

void Session::execute(Command&& command) {
  uint64_t ticket = command.ticket;
  if (auto* lending = std::get_if<Lend>(&command.what)) {
    listener_.ended(leases_.lend(context_, ticket, *lending));
  } else if (auto* ending = std::get_if<EndLease>(&command.what)) {
    leases_.end(ending->lease);
    listener_.ended({ticket, Status::kOk, 0, 0, ""});
  } else {
    begin(ticket, std::move(std::get<Write>(command.what)));
  }
}

void Session::begin(uint64_t ticket, Write&& order) {
  Offer offer;
  Event refusal{ticket, Status::kOk, 0, 0, ""};
  if (!Offer::decode(order.offer, &offer)) {
    refusal.status = Status::kCorrupt;
    refusal.text = "it is no offer of this version";
  } else if (order.targetOffset > offer.size || order.length > offer.size - order.targetOffset) {
    refusal.status = Status::kRange;
  } else if (order.deadlineNanos <= nowNanos()) {
    refusal.status = Status::kTimeout;
  }
  Registration* source = refusal.status == Status::kOk ? registration(order, &refusal) : nullptr;
  if (source == nullptr) {
    listener_.ended(std::move(refusal));
    return;
  }
  auto run = std::make_unique<RunningWrite>();
  run->ticket = ticket;
  run->order = std::move(order);
  run->source = source;
  run->proofEnd = nowNanos() + kProofNanos;
  source->uses++;
  UcpStatus status = kUcpOk;
  run->channel = channel(run->order, offer, &status);
  if (run->channel == nullptr) {
    giveUp(*run, Status::kPeerLost, status, "UCX makes no endpoint");
  } else if (run->channel->failure() == kUcpOk) {
    run->channel->readProof();
  }
  running_.push_back(std::move(run));
}

/// Registers the whole region once; null with a refusal otherwise.
Session::Registration* Session::registration(const Write& order, Event* refusal) {
  auto known = registrations_.find(order.region);
  if (known == registrations_.end()) {
    Registration& made = registrations_[order.region];
    refusal->status = table_.pin(order.region, &made.pin);
    UcpStatus status = kUcpOk;
    if (refusal->status == Status::kOk) {
      uint64_t size = made.pin.size();
      made.memory =
          MemoryRegistration::map(capi_, context_, made.pin.at(0, size), size,
                                  UcpMemoryParams::kLocalRead | UcpMemoryParams::kLocalWrite, &status);
      if (made.memory == nullptr) {
        *refusal = {refusal->ticket, Status::kNoMemory, status, 0, "UCX does not register the source"};
      }
    }
    if (made.memory == nullptr) {
      registrations_.erase(order.region);
      return nullptr;
    }
    known = registrations_.find(order.region);
  } else {
    RegionTable::Pin look;  // what it keeps may be a region that was released
    refusal->status = table_.pin(order.region, &look);
    if (refusal->status != Status::kOk) return nullptr;
  }
  if (known->second.pin.at(order.sourceOffset, order.length) == nullptr) {
    refusal->status = Status::kRange;
    return nullptr;
  }
  return &known->second;
}

/// Returns an idle channel to the region, or a new one.
std::unique_ptr<Channel> Session::channel(const Write& order, const Offer& offer, UcpStatus* status) {
  for (auto at = idle_.begin(); at != idle_.end(); ++at) {
    if ((*at)->offered() != order.offer || (*at)->failure() != kUcpOk) continue;
    std::unique_ptr<Channel> found = std::move(*at);
    idle_.erase(at);
    return found;
  }
  return Channel::open(capi_, context_, *worker_, order.offer, offer, status);
}

void Session::cancel(uint64_t ticket) {
  for (auto& run : running_) {
    if (run->ticket == ticket) giveUp(*run, Status::kCancelled, 0, "");
  }
}

/// Ends the endpoint of a write; the event follows when UCX has let go of the source.
void Session::giveUp(RunningWrite& run, Status status, int code, std::string why) {
  if (run.stage == Stage::kEnding) return;
  run.stage = Stage::kEnding;
  run.end = {run.ticket, status, code, run.hasWritten ? uint64_t{1} : 0, std::move(why)};
  if (run.channel != nullptr) run.channel->close();
}

/// When a write ends at the latest, in the stage that it is in.
uint64_t Session::limit(const RunningWrite& run) {
  uint64_t deadline = run.order.deadlineNanos;
  return run.stage == Stage::kProving ? std::min(deadline, run.proofEnd) : deadline;
}

void Session::advance(RunningWrite& run, uint64_t now) {
  if (run.stage == Stage::kEnding) return;
  if (now >= run.order.deadlineNanos) {
    giveUp(run, Status::kTimeout, 0, "");
  } else if (run.channel->failure() != kUcpOk) {
    giveUp(run, Status::kPeerLost, run.channel->failure(), "its connection broke");
  } else if (run.channel->isBusy()) {
    if (now >= limit(run)) giveUp(run, Status::kPeerLost, kUcpTimedOut, "it has not answered within 500 ms");
  } else if (run.stage == Stage::kProving) {
    prove(run);
  } else {
    run.stage = Stage::kEnding;
    run.end = {run.ticket, Status::kOk, 0, run.order.length, ""};
    run.channel->idleSince = now;
    idle_.push_back(std::move(run.channel));
  }
}

/// The proof is here: begins to write when it is the right one.
void Session::prove(RunningWrite& run) {
  std::string transports = library_.namesTransports ? run.channel->transports() : "";
  if (!isSame(run.channel->proof(), run.order.proof)) {
    giveUp(run, Status::kAuth, 0, "it does not have the proof of its lease");
  } else if (isRdmaRequired_ && library_.namesTransports && !isFast(transports)) {
    giveUp(run, Status::kUnsupported, 0, "UCX reaches it by " + transports + ", and not by RDMA");
  } else {
    run.stage = Stage::kWriting;
    if (run.order.length == 0) return;
    run.hasWritten = true;
    run.channel->write(run.source->pin.at(run.order.sourceOffset, run.order.length), run.order.length,
                       run.source->memory->memory(), run.order.targetOffset);
  }
}

/// Whether bytes go by reliable connections of a network card, which keeps a peer to what its key is for.
bool Session::isFast(const std::string& transports) const {
  bool isAny = false;
  for (size_t at = 0; at < transports.size();) {
    size_t end = std::min(transports.find(',', at), transports.size());
    std::string kind = transports.substr(at, std::min(end - at, size_t{3}));
    if (kind != "rc_" && kind != "dc_" && kind != "ud_") return false;
    isAny |= kind != "ud_";  // which only sets connections up
    at = end + 1;
  }
  return isAny;
}

bool Session::isOver(RunningWrite& run) {
  if (run.stage != Stage::kEnding || (run.channel != nullptr && run.channel->isBusy())) return false;
  if (run.channel != nullptr) closing_.push_back(std::move(run.channel));
  run.source->uses--;
  run.source->idleSince = nowNanos();
  listener_.ended(std::move(run.end));
  return true;
}

bool Session::progress(uint64_t now) {
  if (now - lastLook_ >= kLookNanos || leases_.nextEnd() <= now) dropIdle(now);
  bool any = worker_->progress();
  // Before it takes what peers have sent: not for a lease that is over, or a region that was released.
  if (!leases_.isEmpty()) {
    leases_.endLate(now);
    any |= leases_.progress();
  }
  for (auto& run : running_) advance(*run, now);
  auto ended = std::remove_if(running_.begin(), running_.end(), [this](auto& run) { return isOver(*run); });
  any |= ended != running_.end();
  running_.erase(ended, running_.end());
  closing_.erase(
      std::remove_if(closing_.begin(), closing_.end(), [](auto& channel) { return channel->isClosed(); }),
      closing_.end());
  return any;
}

/// Ends what nobody uses any more.
void Session::dropIdle(uint64_t now) {
  lastLook_ = now;
  leases_.endLate(now);
  for (size_t i = 0; i < idle_.size();) {
    bool isOld = idle_.size() > kMostIdle || now - idle_[i]->idleSince >= kIdleNanos;
    if (isOld || idle_[i]->failure() != kUcpOk) {
      idle_[i]->close();
      closing_.push_back(std::move(idle_[i]));
      idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      i++;
    }
  }
  for (auto at = registrations_.begin(); at != registrations_.end();) {
    RegionTable::Pin look;
    bool isReleased = table_.pin(at->first, &look) == Status::kStale;
    bool isOld = now - at->second.idleSince >= kIdleNanos || registrations_.size() > kMostIdle;
    at = at->second.uses == 0 && (isReleased || isOld) ? registrations_.erase(at) : std::next(at);
  }
}

uint64_t Session::nextLook(uint64_t now) const {
  uint64_t next = leases_.nextEnd();
  if (!leases_.isEmpty() || !registrations_.empty() || !idle_.empty() || !closing_.empty()) {
    next = std::min(next, now + kLookNanos);
  }
  for (const auto& run : running_) {
    if (run->stage != Stage::kEnding) next = std::min(next, limit(*run));
  }
  return next;
}

bool Session::arm() {
  bool isQuiet = worker_->arm();
  return leases_.arm() && isQuiet;
}

std::vector<int> Session::descriptors() const {
  std::vector<int> all{worker_->descriptor()};
  leases_.addDescriptors(&all);
  return all;
}

void Session::close() {
  if (context_ == nullptr) return;
  leases_.endAll();
  for (auto& run : running_) giveUp(*run, Status::kCancelled, 0, "");
  for (auto& channel : idle_) {
    channel->close();
    closing_.push_back(std::move(channel));
  }
  idle_.clear();
  uint64_t until = nowNanos() + kCloseNanos;
  while (worker_ != nullptr && (!running_.empty() || !closing_.empty()) && nowNanos() < until) {
    progress(nowNanos());
  }
  for (auto& run : running_) {
    if (run->channel != nullptr) run->channel->releaseKeys();
  }
  for (auto& channel : closing_) channel->releaseKeys();
  worker_.reset();  // which ends what is left
  for (auto& run : running_) listener_.ended(std::move(run->end));
  running_.clear();
  closing_.clear();
  registrations_.clear();
  capi_.ucp_cleanup(context_);
  context_ = nullptr;
}

}  // namespace dynamo::ucx
