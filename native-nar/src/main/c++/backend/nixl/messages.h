#ifndef DYNAMO_BACKEND_NIXL_MESSAGES_H_
#define DYNAMO_BACKEND_NIXL_MESSAGES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../../core/status.h"

namespace dynamo::nixl {

/// What an agent is made of.
struct AgentPlan {
  struct Backend {
    std::string name;
    std::vector<std::pair<std::string, std::string>> parameters;
  };

  std::vector<std::string> candidates;  ///< for openLibrary()
  std::string pluginFolder;
  std::string name;
  std::vector<Backend> backends;  ///< the first that can move a kind of memory moves it
};

struct MemoryRange {
  uint64_t address = 0;
  uint64_t length = 0;
  uint64_t device = 0;
};

struct Register {
  int kind;
  MemoryRange range;
};

struct Deregister {
  uint64_t registration;
};

struct DescribeSelf {};

/// Waits for a notification that is equal to `key`.
struct Watch {
  std::string key;
  uint64_t deadlineNanos;  ///< on the monotonic clock; 0 is none
};

/// A range within registered memory, and where its bytes go to or come from.
struct Piece {
  uint64_t registration;
  uint64_t local;
  uint64_t length;
  uint64_t remote;
  uint64_t remoteDevice;
};

struct TransferOrder {
  bool write;
  int remoteKind;
  std::vector<Piece> pieces;
  std::string peerMetadata;  ///< loaded before the transfer, and dropped with the last one of the peer
  std::string notification;  ///< which the peer gets when the bytes are in place
  uint64_t deadlineNanos;
};

struct Command {
  uint64_t ticket = 0;
  std::variant<DescribeSelf, Register, Deregister, Watch, TransferOrder> what;
};

/// The one end of a command.
struct Event {
  uint64_t ticket = 0;
  Status status = Status::kOk;
  int code = 0;         ///< what the library answered, when it failed
  uint64_t number = 0;  ///< a registration, or bytes moved
  std::string text;     ///< metadata, the name of a peer, or why it failed
};

/// How far a command is.
enum class Phase : int { kNone = -1, kQueued = 0, kPosted = 1, kRunning = 2 };

/// Hears of commands on the thread of the agent.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void ended(Event event) = 0;
  virtual void reached(uint64_t ticket, Phase phase) = 0;
};

}  // namespace dynamo::nixl

#endif  // DYNAMO_BACKEND_NIXL_MESSAGES_H_
