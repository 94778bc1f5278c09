#ifndef DYNAMO_CORE_CLOSED_PEERS_H_
#define DYNAMO_CORE_CLOSED_PEERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dynamo {

/// The far end of a connection. IPv4 addresses are in their IPv4-mapped form (::ffff:a.b.c.d).
struct Peer {
  uint16_t port;
  std::array<uint8_t, 16> address;
};

/// The peers of this host's TCP connections at `localPort` that have closed their side while ours is open
/// (CLOSE_WAIT), asked from the kernel by a sock_diag dump. Appends to `peers`, at most `limit` of them;
/// never waits. Returns 0 or an errno.
int findClosedPeers(uint16_t localPort, size_t limit, std::vector<Peer>* peers);

}  // namespace dynamo

#endif  // DYNAMO_CORE_CLOSED_PEERS_H_
