#ifndef DYNAMO_CORE_PEER_STATES_H_
#define DYNAMO_CORE_PEER_STATES_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace dynamo {

/// One end of a connection. IPv4 addresses are in their IPv4-mapped form (::ffff:a.b.c.d).
struct Endpoint {
  uint16_t port;
  std::array<uint8_t, 16> address;
};

/// A TCP connection of this host. A link-local address is one on an interface: several may have the same.
struct Connection {
  Endpoint local;
  Endpoint remote;
  uint32_t interface;  ///< the number of it, for link-local addresses; 0 otherwise
};

enum class PeerState : uint8_t {
  kOpen = 0,
  kClosed = 1,   ///< the peer closed its side while ours is open (CLOSE_WAIT)
  kUnknown = 2,  ///< the kernel has no such connection: reset, closed by both, or never there
};

/// Asks the kernel for the state of each of `count` connections by sock_diag lookups: about a microsecond
/// each, however many connections the host has. Never waits. Returns 0 or an errno; `states` is then
/// undefined.
int findPeerStates(const Connection* connections, size_t count, PeerState* states);

}  // namespace dynamo

#endif  // DYNAMO_CORE_PEER_STATES_H_
