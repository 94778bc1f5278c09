#include "peers.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace dynamo::nixl {
namespace {

constexpr uint64_t kMostBackends = 64;
constexpr uint64_t kMostLists = 1024;
constexpr uint64_t kMostListed = 65536;
constexpr size_t kPlaceBytes = 24;  // address, length, device

/// Reads records: a tag, a length of eight bytes, as many bytes, a bar.
class Records {
 public:
  explicit Records(const std::string& bytes) : bytes_(bytes) {}

  bool start(const char* text) { return literal(text, std::strlen(text)); }
  bool text(const char* tag, std::string* value) {
    uint64_t length = 0;
    if (!literal(tag, std::strlen(tag)) || bytes_.size() - at_ < sizeof length) return false;
    std::memcpy(&length, bytes_.data() + at_, sizeof length);
    at_ += sizeof length;
    if (length > bytes_.size() - at_) return false;
    value->assign(bytes_, at_, static_cast<size_t>(length));
    at_ += static_cast<size_t>(length);
    return literal("|", 1);
  }
  bool count(const char* tag, uint64_t most, uint64_t* value) {
    std::string bytes;
    if (!text(tag, &bytes) || bytes.size() != sizeof *value) return false;
    std::memcpy(value, bytes.data(), sizeof *value);
    return *value <= most;
  }
  size_t position() const { return at_; }

 private:
  bool literal(const char* expected, size_t length) {
    if (bytes_.size() - at_ < length || bytes_.compare(at_, length, expected, length) != 0) return false;
    at_ += length;
    return true;
  }

  const std::string& bytes_;
  size_t at_ = 0;
};

/// Whether all ranges of one kind that one backend moves have the same key.
bool haveOneKey(const std::set<PeerMetadata::Range>& some, const std::set<PeerMetadata::Range>& others) {
  std::map<std::string, std::string> keys;
  for (const auto* ranges : {&some, &others}) {
    for (const auto& [place, key] : *ranges) {
      std::string kind = place.substr(0, place.size() - kPlaceBytes);
      if (keys.emplace(kind, key).first->second != key) return false;
    }
  }
  return true;
}

}  // namespace

bool parseMetadata(const std::string& blob, PeerMetadata* parsed) {
  Records in(blob);
  uint64_t connections = 0;
  uint64_t lists = 0;
  std::string word;
  if (!in.start("nixlSerDes|") || !in.text("Agent", &parsed->name) ||
      !in.count("Conns", kMostBackends, &connections)) {
    return false;
  }
  size_t from = in.position();
  for (uint64_t i = 0; i < connections; i++) {
    if (!in.text("t", &word) || !in.text("c", &word)) return false;
  }
  parsed->connections = blob.substr(from, in.position() - from);
  if (!in.text("", &word) || word != "MemSection" || !in.count("nixlSecElms", kMostLists, &lists))
    return false;
  for (uint64_t i = 0; i < lists; i++) {
    std::string backend;
    std::string kind;
    uint64_t size = 0;
    if (!in.text("bknd", &backend) || !in.text("nixlDList", &word) || word != "nixlSDList" ||
        !in.text("t", &kind) || !in.count("n", kMostListed, &size)) {
      return false;
    }
    for (uint64_t j = 0; j < size; j++) {
      if (!in.text("", &word) || word.size() < kPlaceBytes) return false;
      parsed->ranges.emplace(backend + "|" + kind + word.substr(0, kPlaceBytes), word.substr(kPlaceBytes));
    }
  }
  return true;
}

bool Peers::canGoOn(const Peer& peer, const PeerMetadata& next) const {
  if (!peer.isSound || peer.loaded.connections != next.connections) return false;
  const auto& before = peer.loaded.ranges;
  // Nothing was deregistered, or the key of what was is the key of all.
  return std::includes(next.ranges.begin(), next.ranges.end(), before.begin(), before.end()) ||
         (before.size() + next.ranges.size() <= kMostRanges && haveOneKey(before, next.ranges));
}

int Peers::enter(CapiAgent agent, const std::string& blob, std::string* name) {
  PeerMetadata next;
  bool isKnownForm = parseMetadata(blob, &next);
  auto at = isKnownForm ? peers_.find(next.name) : peers_.end();
  if (at != peers_.end() && at->second.transfers == 0 &&
      (!canGoOn(at->second, next) ||
       capi_.check_remote_md(agent, next.name.c_str(), nullptr) != kCapiSuccess)) {
    drop(agent, next.name);
    at = peers_.end();
  }
  bool hasAll = at != peers_.end() && at->second.loaded.connections == next.connections &&
                std::includes(at->second.loaded.ranges.begin(), at->second.loaded.ranges.end(),
                              next.ranges.begin(), next.ranges.end());
  if (hasAll) {
    *name = next.name;
  } else {
    int status = load(agent, blob, name);
    if (status != kCapiSuccess && at != peers_.end() && at->second.transfers == 0) {
      drop(agent, next.name);
      status = load(agent, blob, name);
    }
    if (status != kCapiSuccess) return status;
  }
  Peer& peer = peers_[*name];
  peer.transfers++;
  peer.isSound = peer.isSound && isKnownForm;
  peer.loaded.connections = next.connections;
  peer.loaded.ranges.insert(next.ranges.begin(), next.ranges.end());
  return kCapiSuccess;
}

int Peers::load(CapiAgent agent, const std::string& blob, std::string* name) const {
  char* found = nullptr;
  int status = capi_.load_remote_md(agent, blob.data(), blob.size(), &found);
  if (status != kCapiSuccess) return status;
  if (found == nullptr) return kCapiInvalid;
  name->assign(found);
  std::free(found);
  return kCapiSuccess;
}

void Peers::leave(CapiAgent agent, const std::string& name, bool isSound) {
  auto at = peers_.find(name);
  if (at == peers_.end()) return;
  Peer& peer = at->second;
  peer.isSound = peer.isSound && isSound;
  peer.lastUse = ++uses_;
  if (--peer.transfers > 0) return;
  if (!peer.isSound) return drop(agent, name);
  auto oldest = peers_.end();
  size_t idle = 0;
  for (auto other = peers_.begin(); other != peers_.end(); ++other) {
    if (other->second.transfers > 0) continue;
    idle++;
    if (oldest == peers_.end() || other->second.lastUse < oldest->second.lastUse) oldest = other;
  }
  if (idle > kMostIdle) drop(agent, std::string(oldest->first));
}

void Peers::drop(CapiAgent agent, const std::string& name) {
  capi_.invalidate_remote_md(agent, name.c_str());
  peers_.erase(name);
}

}  // namespace dynamo::nixl
