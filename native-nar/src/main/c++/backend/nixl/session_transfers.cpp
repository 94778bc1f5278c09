// The part of a session that moves bytes.

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "session.h"

namespace dynamo::nixl {
namespace {

constexpr char kProbe[] = "dynamo-probe";  // a notification that no peer waits for

}  // namespace

Status Session::check(const TransferOrder& order, int* localKind, std::string* why) const {
  if (order.pieces.empty() || order.remoteKind < 0 || order.remoteKind >= kMemoryKinds) {
    *why = "a transfer has at least one piece";
    return Status::kInvalid;
  }
  *localKind = -1;
  for (const Piece& piece : order.pieces) {
    auto at = registrations_.find(piece.registration);
    if (at == registrations_.end() || at->second.deregistering) {
      *why = "local memory is not registered";
      return Status::kStale;
    }
    const MemoryRange& range = at->second.range;
    if (piece.length == 0 || piece.local < range.address || piece.length > range.length ||
        piece.local - range.address > range.length - piece.length || piece.remote == 0 ||
        piece.length > ~uint64_t{0} - piece.remote) {
      *why = "a piece leaves its memory";
      return Status::kRange;
    }
    if (*localKind >= 0 && *localKind != at->second.kind) {
      *why = "local memory is of several kinds";
      return Status::kInvalid;
    }
    *localKind = at->second.kind;
  }
  return Status::kOk;
}

void Session::begin(uint64_t ticket, TransferOrder&& order) {
  int localKind = 0;
  std::string why;
  Status valid = check(order, &localKind, &why);
  if (valid != Status::kOk) return fail(ticket, valid, 0, std::move(why));
  std::string name;
  int loaded = peers_.enter(agent_, order.peerMetadata, &name);
  if (loaded != kCapiSuccess) {
    if (loaded == kCapiInvalid)
      return fail(ticket, Status::kCorrupt, loaded, "NIXL does not take the metadata");
    return fail(
        ticket, Status::kPeerLost, loaded,
        "NIXL does not connect to the peer: it is gone, it shares no backend, or its name is also that "
        "of another one; or its metadata is damaged");
  }
  Running run{ticket, nullptr, std::move(name), {}, 0, order.deadlineNanos};
  int status = makeRequest(order, localKind, run.peer.c_str(), &run.request);
  if (status != kCapiSuccess) {
    peers_.leave(agent_, run.peer, false);
    return fail(ticket, Status::kBackend, status,
                "NIXL makes no request to " + run.peer +
                    ": the peer's memory is not registered there, or no "
                    "backend reaches it");
  }
  for (const Piece& piece : order.pieces) {
    registrations_.at(piece.registration).uses++;
    run.registrations.push_back(piece.registration);
    run.bytes += piece.length;
  }
  int posted = capi_.post_xfer_req(agent_, run.request, nullptr);
  if (posted == kCapiInProgress) {
    listener_.reached(ticket, Phase::kPosted);
    running_.push_back(std::move(run));
  } else {
    settle(std::move(run), posted == kCapiSuccess ? Status::kOk : Status::kBackend, posted, "");
  }
}

int Session::makeRequest(const TransferOrder& order, int localKind, const char* peer, CapiXferReq* request) {
  CapiOptions options = optionsFor(localKind, order.remoteKind, true);
  CapiXferList local = nullptr;
  CapiXferList remote = nullptr;
  int status = options == nullptr ? kCapiNotFound : capi_.create_xfer_dlist(localKind, &local);
  if (status == kCapiSuccess) status = capi_.create_xfer_dlist(order.remoteKind, &remote);
  for (size_t i = 0; i < order.pieces.size() && status == kCapiSuccess; i++) {
    const Piece& piece = order.pieces[i];
    uint64_t device = registrations_.at(piece.registration).range.device;
    status = capi_.xfer_dlist_add_desc(local, piece.local, piece.length, device);
    if (status == kCapiSuccess) {
      status = capi_.xfer_dlist_add_desc(remote, piece.remote, piece.length, piece.remoteDevice);
    }
  }
  if (status == kCapiSuccess && !order.notification.empty()) {
    status = capi_.opt_args_set_has_notif(options, true);  // before the text, which it takes only then
    if (status == kCapiSuccess) {
      status = capi_.opt_args_set_notif_msg(options, order.notification.data(), order.notification.size());
    }
  }
  if (status == kCapiSuccess) {
    status =
        capi_.create_xfer_req(agent_, order.write ? kWrite : kRead, local, remote, peer, request, options);
  }
  if (local != nullptr) capi_.destroy_xfer_dlist(local);
  if (remote != nullptr) capi_.destroy_xfer_dlist(remote);
  if (options != nullptr) capi_.destroy_opt_args(options);
  return status;
}

void Session::pollTransfers(uint64_t now) {
  for (size_t i = 0; i < running_.size();) {
    Running& run = running_[i];
    int status = capi_.get_xfer_status(agent_, run.request);
    bool isLate = run.deadlineNanos != 0 && now >= run.deadlineNanos;
    if (status == kCapiInProgress && !isLate) {
      if (!run.isPolled) listener_.reached(run.ticket, Phase::kRunning);
      run.isPolled = true;
      i++;
      continue;
    }
    Running ending = std::move(run);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    Status ended = status == kCapiSuccess      ? Status::kOk
                   : status == kCapiInProgress ? Status::kTimeout
                                               : Status::kBackend;
    settle(std::move(ending), ended, status, "");
  }
}

/// Whether a peer can still be reached. The library's answer to a transfer does not say so, but it drops the
/// metadata of a peer that it finds disconnected, and sends nothing by a connection that broke.
bool Session::isPeerThere(const std::string& peer) const {
  return capi_.check_remote_md(agent_, peer.c_str(), nullptr) == kCapiSuccess &&
         capi_.gen_notif(agent_, peer.c_str(), kProbe, sizeof kProbe - 1, nullptr) == kCapiSuccess;
}

/// Ends a posted transfer with its event, which follows the release of the request when bytes may still move.
void Session::settle(Running&& run, Status status, int code, std::string text) {
  Event event{run.ticket, status, code, run.bytes, std::move(text)};
  if (status == Status::kBackend) {
    bool isThere = isPeerThere(run.peer);
    if (!isThere) event.status = Status::kPeerLost;
    event.text = (isThere ? "the transfer failed with peer " : "the connection is lost to peer ") + run.peer;
  }
  if (status == Status::kOk) {
    event.code = 0;
    event.text = run.peer;
  } else {
    event.number = 0;
  }
  // After a lost connection nothing arrives any more; after other failures it might.
  bool isSound = event.status == Status::kOk;
  bool isQuiet = event.status == Status::kOk || event.status == Status::kPeerLost;
  if (release(run.request)) {
    forget(run, isQuiet, isSound);
    end(std::move(event));
  } else if (isQuiet) {
    end(std::move(event));
    refused_.push_back({std::move(run), std::nullopt, isSound});
  } else {
    refused_.push_back({std::move(run), std::move(event), isSound});
  }
}

bool Session::release(CapiXferReq request) {
  if (capi_.release_xfer_req(agent_, request) != kCapiSuccess) return false;
  capi_.destroy_xfer_req(request);
  return true;
}

void Session::retryRefused() {
  for (size_t i = 0; i < refused_.size();) {
    if (!release(refused_[i].run.request)) {
      i++;
      continue;
    }
    Refused ended = std::move(refused_[i]);
    refused_.erase(refused_.begin() + static_cast<std::ptrdiff_t>(i));
    forget(ended.run, !ended.event, ended.isSound);
    if (ended.event) end(std::move(*ended.event));
  }
}

void Session::forget(const Running& run, bool isQuiet, bool isSound) {
  peers_.leave(agent_, run.peer, isSound);
  if (!isQuiet) return;
  for (uint64_t id : run.registrations) {
    auto at = registrations_.find(id);
    if (at != registrations_.end() && --at->second.uses == 0 && at->second.deregistering) endRegistration(at);
  }
}

}  // namespace dynamo::nixl
