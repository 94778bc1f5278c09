#ifndef DYNAMO_BACKEND_NIXL_AGENT_H_
#define DYNAMO_BACKEND_NIXL_AGENT_H_

#include <cstdint>
#include <memory>

#include "messages.h"

namespace dynamo::nixl {

/// An agent of NIXL behind a thread that alone calls the library: callers hand commands over and take events,
/// and never wait for the library. Safe for concurrent use.
///
/// The thread outlives the agent when the library does not return in time; then the memory that is registered
/// must stay, too.
class Agent {
 public:
  static constexpr size_t kMostCommands = 4096;  ///< that have not ended, and ends that were not taken
  static constexpr size_t kMostPieces = 65536;   ///< of one transfer
  static constexpr uint64_t kOpenTicket = 0;     ///< of the event that says what the agent can do

  /// Starts the thread, which opens the library and makes the agent.
  static std::shared_ptr<Agent> open(AgentPlan plan);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// kBusy when too many commands run, kStale once the agent is closed, kInvalid for a ticket in use.
  Status submit(Command command);
  /// Gives a watch or a transfer up; its event follows. Of no effect on others.
  void cancel(uint64_t ticket);
  Phase phase(uint64_t ticket) const;
  /// Takes the next event: kTimeout when there was none in time, kStale when none will come any more.
  Status await(uint64_t maxNanos, Event* event);
  /// Ends all commands and the agent. False when the library did not return in time. Idempotent.
  bool close(uint64_t maxNanos);

 private:
  struct State;
  explicit Agent(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace dynamo::nixl

#endif  // DYNAMO_BACKEND_NIXL_AGENT_H_
