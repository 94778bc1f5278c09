#ifndef DYNAMO_BACKEND_UCX_CHANNEL_H_
#define DYNAMO_BACKEND_UCX_CHANNEL_H_

#include <memory>
#include <string>
#include <vector>

#include "memory_registration.h"
#include "messages.h"
#include "offer.h"
#include "worker.h"

namespace dynamo::ucx {

/// An endpoint to a region that another process lends, for one write at a time: giving up a write means to
/// end its endpoint by force, and must not end others. For one thread; never moved, since UCX has its
/// address.
class Channel {
 public:
  /// Begins to connect. Null when UCX refuses, with its status.
  static std::unique_ptr<Channel> open(const Capi& capi, UcpContext context, Worker& worker,
                                       const std::string& offered, const Offer& offer, UcpStatus* status);
  /// Only once isClosed(), or after the end of the worker and releaseKeys().
  ~Channel() { releaseKeys(); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Reads the proof that the owner publishes; then proof() has it.
  void readProof();
  /// Writes into the region, and flushes: when that ends without a failure, the bytes are in place.
  void write(const std::byte* from, uint64_t length, UcpMemory memory, uint64_t offset);
  /// Whether operations run.
  bool isBusy() const { return pending_ != 0; }
  /// The first failure of an operation or of the connection.
  UcpStatus failure() const { return failure_; }
  Proof proof() const;
  /// The names of the transports, separated by commas; empty when UCX has none.
  std::string transports() const;
  /// Ends the endpoint by force; operations that run fail soon.
  void close();
  /// Whether it was closed and nothing of it runs any more.
  bool isClosed();

  /// Gives up the keys, which are the worker's.
  void releaseKeys();

  const std::string& offered() const { return offered_; }
  uint64_t idleSince = 0;  ///< for those that keep it

 private:
  Channel(const Capi& capi, std::string offered, const Offer& offer)
      : capi_(capi), offered_(std::move(offered)), base_(offer.base), proofAt_(offer.proofAt) {}

  static void ended(UcpRequest request, UcpStatus status, void* channel);
  static void broken(void* channel, UcpEndpoint endpoint, UcpStatus status);
  void started(UcpRequest request);
  void fail(UcpStatus status) {
    if (failure_ == kUcpOk) failure_ = status;
  }

  const Capi& capi_;
  const std::string offered_;
  const uint64_t base_;
  const uint64_t proofAt_;
  Page inbox_;
  UcpEndpoint endpoint_ = nullptr;
  UcpKey regionKey_ = nullptr;
  UcpKey proofKey_ = nullptr;
  UcpRequest closing_ = nullptr;
  int pending_ = 0;
  UcpStatus failure_ = kUcpOk;
};

}  // namespace dynamo::ucx

#endif  // DYNAMO_BACKEND_UCX_CHANNEL_H_
