#ifndef DYNAMO_CORE_HANG_UPS_H_
#define DYNAMO_CORE_HANG_UPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace dynamo {

/// One end of a connection. IPv4 addresses are in their IPv4-mapped form (::ffff:a.b.c.d).
struct Endpoint {
  uint16_t port;
  std::array<uint8_t, 16> address;

  bool operator==(const Endpoint& other) const { return port == other.port && address == other.address; }
};

/// A TCP connection of this process. A link-local address is one on an interface: several may have the same.
struct Connection {
  Endpoint local;
  Endpoint remote;
  uint32_t interface;  ///< the number of it, for link-local addresses; 0 otherwise

  bool operator==(const Connection& other) const {
    return local == other.local && remote == other.remote && interface == other.interface;
  }
};

struct ConnectionHash {
  size_t operator()(const Connection& connection) const;
};

/// Tells whose peers hang up, of connections that some other code of this process has open: their sockets
/// are found by their addresses and watched for their end alone, so that bytes which come and go cost
/// nothing. `watch` and `await` are for one thread, `wake` for any.
class HangUps {
 public:
  /// What `await` never reports.
  static constexpr uint64_t kNoId = 0;

  /// Null when the kernel has no descriptor left; `*error` is then an errno.
  static std::unique_ptr<HangUps> open(int* error);
  ~HangUps();
  HangUps(const HangUps&) = delete;
  HangUps& operator=(const HangUps&) = delete;

  /// Has `await` report `id` once, when the peer of `connection` closes or resets it or if it has already.
  /// Takes the place of an earlier id of the same connection. `*scanned` tells whether all descriptors of
  /// the process were looked through, and is set when they were: at most once for each false given. False
  /// when there is no such connection.
  bool watch(const Connection& connection, uint64_t id, bool* scanned);

  /// Waits for hang-ups, a `wake`, or the time to pass. Returns how many ids it wrote, or a negative errno.
  int await(int timeoutMillis, uint64_t* ids, size_t room);

  void wake();

 private:
  HangUps(int epoll, int alarm) : epoll_(epoll), alarm_(alarm) {}
  bool arm(const Connection& connection, uint64_t id);
  void scan();

  const int epoll_;
  const int alarm_;                                              ///< an eventfd
  std::unordered_map<Connection, int, ConnectionHash> sockets_;  ///< by the last scan; may be gone since
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_HANG_UPS_H_
