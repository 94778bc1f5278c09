#ifndef DYNAMO_BACKEND_NIXL_SESSION_H_
#define DYNAMO_BACKEND_NIXL_SESSION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "library.h"
#include "messages.h"
#include "peers.h"

namespace dynamo::nixl {

/// An agent of the library with all that it keeps, for one thread. Every command that it executes ends with
/// one event. The library's calls may take long, so the thread is nobody's but the agent's.
///
/// Memory stays registered while a transfer may touch it. A transfer that was given up while it was under
/// way counts as one for ever: the library lets go of its own request then, but does not say when the network
/// will. Such memory is free when the agent is closed.
class Session {
 public:
  Session(const Library& library, Listener& listener)
      : capi_(library.capi), listener_(listener), peers_(library.capi) {}
  ~Session() { close(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Makes the agent and its backends; false when there is none left to use. `*report` has a line for each
  /// backend that is absent.
  bool open(const AgentPlan& plan, std::string* report);
  void execute(Command&& command);
  /// Gives a watch or a transfer up; of no effect on others.
  void cancel(uint64_t ticket);
  /// Looks after transfers, notifications and deadlines.
  void poll(uint64_t now);
  /// Whether transfers are under way.
  bool isMoving() const { return !running_.empty() || !refused_.empty(); }
  bool isWatching() const { return !watches_.empty(); }
  /// Ends all commands, deregisters everything and destroys the agent. Idempotent.
  void close();

 private:
  struct Backend {
    std::string name;
    CapiBackend handle;
    bool moves[kMemoryKinds] = {};
  };
  struct Registration {
    int kind;
    MemoryRange range;
    CapiRegList list;
    uint64_t uses;
    std::optional<uint64_t> deregistering;  ///< the ticket that waits for the last use
  };
  struct Running {
    uint64_t ticket;
    CapiXferReq request;
    std::string peer;
    std::vector<uint64_t> registrations;
    uint64_t bytes;
    uint64_t deadlineNanos;
    bool isPolled = false;
  };
  /// A request that the library has not released yet.
  struct Refused {
    Running run;
    std::optional<Event> event;
    bool isSound;
  };

  CapiOptions optionsFor(int kind, int otherKind, bool first) const;
  void registerMemory(uint64_t ticket, const Register& what);
  void deregister(uint64_t ticket, uint64_t id);
  void describe(uint64_t ticket);
  void watch(uint64_t ticket, Watch&& what);
  void begin(uint64_t ticket, TransferOrder&& order);
  Status check(const TransferOrder& order, int* localKind, std::string* why) const;
  int makeRequest(const TransferOrder& order, int localKind, const char* peer, CapiXferReq* request);
  void pollTransfers(uint64_t now);
  void pollNotifications();
  void retryRefused();
  void settle(Running&& run, Status status, int code, std::string text);
  bool release(CapiXferReq request);
  void forget(const Running& run, bool isQuiet, bool isSound);
  void endRegistration(std::map<uint64_t, Registration>::iterator at);
  bool isPeerThere(const std::string& peer) const;
  /// Ends a command; at the end of the agent once that is over, since then nothing touches memory any more.
  void end(Event event) {
    if (isClosing_) {
      late_.push_back(std::move(event));
    } else {
      listener_.ended(std::move(event));
    }
  }
  void fail(uint64_t ticket, Status status, int code, std::string why) {
    end({ticket, status, code, 0, std::move(why)});
  }

  const Capi& capi_;
  Listener& listener_;
  CapiAgent agent_ = nullptr;
  std::vector<Backend> backends_;
  std::map<uint64_t, Registration> registrations_;
  uint64_t nextRegistration_ = 1;
  Peers peers_;
  std::map<std::string, std::pair<uint64_t, uint64_t>> watches_;  ///< key to ticket and deadline
  std::vector<Running> running_;
  std::vector<Refused> refused_;
  bool isClosing_ = false;
  std::vector<Event> late_;
};

}  // namespace dynamo::nixl

#endif  // DYNAMO_BACKEND_NIXL_SESSION_H_
