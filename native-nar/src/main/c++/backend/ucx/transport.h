#ifndef DYNAMO_BACKEND_UCX_TRANSPORT_H_
#define DYNAMO_BACKEND_UCX_TRANSPORT_H_

#include <cstdint>
#include <memory>

#include "../../core/regions.h"
#include "messages.h"

namespace dynamo::ucx {

/// Regions of this process that others write into, and theirs, by UCX. A thread alone calls the library:
/// callers hand commands over and take events, and never wait for the library. Safe for concurrent use.
///
/// The thread outlives the transport when the library does not return in time.
class Transport {
 public:
  static constexpr size_t kMostCommands = 4096;  ///< that have not ended, and ends that were not taken
  static constexpr uint64_t kOpenTicket = 0;     ///< of the event that says whether the transport works

  /// Starts the thread, which opens the library and makes the context. The table must live for ever.
  static std::shared_ptr<Transport> open(Plan plan, RegionTable& table);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// kBusy when too many commands run (the end of a lease is always taken), kStale once the transport is
  /// closed, kInvalid for a ticket in use.
  Status submit(Command command);
  /// Gives a write up; its event follows. Of no effect on others.
  void cancel(uint64_t ticket);
  /// Takes the next event: kTimeout when there was none in time, kStale when none will come any more.
  Status await(uint64_t maxNanos, Event* event);
  /// Ends all commands and leases. False when the library did not return in time. Idempotent.
  bool close(uint64_t maxNanos);

 private:
  struct State;
  explicit Transport(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace dynamo::ucx

#endif  // DYNAMO_BACKEND_UCX_TRANSPORT_H_
