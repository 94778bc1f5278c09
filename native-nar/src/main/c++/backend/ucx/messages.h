#ifndef DYNAMO_BACKEND_UCX_MESSAGES_H_
#define DYNAMO_BACKEND_UCX_MESSAGES_H_

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "../../core/status.h"

namespace dynamo::ucx {

/// What a transport is made of.
struct Plan {
  std::vector<std::string> candidates;  ///< for openLibrary()
  std::string transports;               ///< a list as UCX has it: rc,dc
  bool isRdmaRequired =
      true;  ///< whether endpoints without a transport of remote direct memory access are refused
};

/// Bytes that the owner of a region publishes beside it, and that only holders of its lease's secret know.
using Proof = std::array<uint8_t, 32>;

/// Lends a region; the event has an offer as text and the lease as number.
struct Lend {
  uint64_t region;
  Proof proof;
  uint64_t endNanos;  ///< on the monotonic clock
};

/// Ends a lease: once the event is there, nothing of the transport writes into the region.
struct EndLease {
  uint64_t lease;
};

/// Writes a range of a region of this process into one that another process lends.
struct Write {
  uint64_t region;
  uint64_t sourceOffset;
  uint64_t targetOffset;
  uint64_t length;
  std::string offer;
  Proof proof;
  uint64_t deadlineNanos;  ///< on the monotonic clock
};

struct Command {
  uint64_t ticket = 0;
  std::variant<EndLease, Lend, Write> what;
};

/// The one end of a command.
struct Event {
  uint64_t ticket = 0;
  Status status = Status::kOk;
  int code = 0;         ///< what the library answered, when it failed
  uint64_t number = 0;  ///< a lease, the bytes written, or of a failed write whether bytes may have been
  std::string text;     ///< an offer, or why it failed
};

/// Hears of commands on the thread of the transport.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void ended(Event event) = 0;
};

}  // namespace dynamo::ucx

#endif  // DYNAMO_BACKEND_UCX_MESSAGES_H_
