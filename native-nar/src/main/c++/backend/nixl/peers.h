#ifndef DYNAMO_BACKEND_NIXL_PEERS_H_
#define DYNAMO_BACKEND_NIXL_PEERS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "capi.h"

namespace dynamo::nixl {

/// An agent's metadata, as far as it decides whether a connection can go on.
struct PeerMetadata {
  using Range = std::pair<std::string, std::string>;  ///< backend, kind and place; the key to it

  std::string name;
  std::string connections;  ///< of all its backends
  std::set<Range> ranges;
};

/// False when the bytes are no metadata of the form that is known.
bool parseMetadata(const std::string& blob, PeerMetadata* parsed);

/// The peers whose metadata an agent has loaded. A peer stays connected after its last transfer, since each
/// new connection takes milliseconds and, with UCX, a descriptor for ever. The library never forgets a single
/// range of a peer, so it goes when an old key could be used in place of a new one. For one thread.
class Peers {
 public:
  static constexpr size_t kMostIdle = 256;
  static constexpr size_t kMostRanges = 1000;  ///< of one peer, those that it has deregistered included

  explicit Peers(const Capi& capi) : capi_(capi) {}

  /// Loads metadata, and counts a transfer with the peer: `*name` is its name then.
  int enter(CapiAgent agent, const std::string& blob, std::string* name);
  /// Ends a transfer. A peer that failed is dropped with its last one.
  void leave(CapiAgent agent, const std::string& name, bool isSound);

 private:
  struct Peer {
    uint64_t transfers = 0;
    uint64_t lastUse = 0;
    bool isSound = true;
    PeerMetadata loaded;
  };

  bool canGoOn(const Peer& peer, const PeerMetadata& next) const;
  int load(CapiAgent agent, const std::string& blob, std::string* name) const;
  void drop(CapiAgent agent, const std::string& name);

  const Capi& capi_;
  std::map<std::string, Peer> peers_;
  uint64_t uses_ = 0;
};

}  // namespace dynamo::nixl

#endif  // DYNAMO_BACKEND_NIXL_PEERS_H_
