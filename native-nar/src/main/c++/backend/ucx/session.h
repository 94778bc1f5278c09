#ifndef DYNAMO_BACKEND_UCX_SESSION_H_
#define DYNAMO_BACKEND_UCX_SESSION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../../core/regions.h"
#include "channel.h"
#include "leases.h"
#include "library.h"
#include "messages.h"

namespace dynamo::ucx {

/// A context of UCX with all that it keeps, for one thread. Every command that it executes ends with one
/// event, and the event of a write comes when UCX has let go of its source.
///
/// A write first reads the proof beside the region: a lease that is over, an owner that does not know the
/// secret and a peer that is not there are found before a byte is written. A peer that does not answer ends
/// the write long before its deadline, with kPeerLost, kUcpTimedOut and no byte written.
class Session {
 public:
  static constexpr size_t kMostIdle = 64;  ///< of channels and of registrations
  static constexpr uint64_t kIdleNanos = uint64_t{10'000'000'000};
  static constexpr uint64_t kProofNanos = 500'000'000;  ///< within which an owner's proof has to be here
  static constexpr uint64_t kLookNanos = 100'000'000;   ///< between looks for regions that were released

  Session(const Library& library, RegionTable& table, Listener& listener)
      : library_(library),
        capi_(library.capi),
        table_(table),
        listener_(listener),
        leases_(library.capi, table) {}
  ~Session() { close(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// False when there is no context of these transports; `*why` is the reason.
  bool open(const Plan& plan, std::string* why);
  void execute(Command&& command);
  /// Gives a write up; of no effect on others.
  void cancel(uint64_t ticket);
  /// One round of progress. Returns whether there was any.
  bool progress(uint64_t now);
  /// When it has to be called again at the latest, without an event of its descriptors.
  uint64_t nextLook(uint64_t now) const;
  /// Arms the descriptors; false when there is something to progress now.
  bool arm();
  std::vector<int> descriptors() const;
  /// Ends all commands and leases and destroys the context. Idempotent.
  void close();

 private:
  enum class Stage { kProving, kWriting, kEnding };
  struct Registration {
    RegionTable::Pin pin;
    std::unique_ptr<MemoryRegistration> memory;
    uint64_t uses = 0;
    uint64_t idleSince = 0;
  };
  struct RunningWrite {
    uint64_t ticket;
    Write order;
    std::unique_ptr<Channel> channel;
    Registration* source;
    uint64_t proofEnd;  ///< when its proof has to be here
    Stage stage = Stage::kProving;
    bool hasWritten = false;
    Event end;  ///< of a write in its last stage
  };

  void begin(uint64_t ticket, Write&& order);
  Registration* registration(const Write& order, Event* refusal);
  std::unique_ptr<Channel> channel(const Write& order, const Offer& offer, UcpStatus* status);
  static uint64_t limit(const RunningWrite& run);
  void advance(RunningWrite& run, uint64_t now);
  void prove(RunningWrite& run);
  void giveUp(RunningWrite& run, Status status, int code, std::string why);
  bool isOver(RunningWrite& run);
  void dropIdle(uint64_t now);
  bool isFast(const std::string& transports) const;

  const Library& library_;
  const Capi& capi_;
  RegionTable& table_;
  Listener& listener_;
  bool isRdmaRequired_ = true;
  UcpContext context_ = nullptr;
  std::unique_ptr<Worker> worker_;
  Leases leases_;
  std::map<uint64_t, Registration> registrations_;  ///< by region
  std::vector<std::unique_ptr<RunningWrite>> running_;
  std::vector<std::unique_ptr<Channel>> idle_;
  std::vector<std::unique_ptr<Channel>> closing_;
  uint64_t lastLook_ = 0;
};

}  // namespace dynamo::ucx

#endif  // DYNAMO_BACKEND_UCX_SESSION_H_
