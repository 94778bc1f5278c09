#ifndef DYNAMO_BACKEND_UCX_OFFER_H_
#define DYNAMO_BACKEND_UCX_OFFER_H_

#include <cstdint>
#include <string>

namespace dynamo::ucx {

/// How a lent region is reached, as one process passes it to another: the address of a worker and two keys,
/// of the region and of the proof beside it. The parts are UCX's own, and are as good as their sender.
struct Offer {
  std::string worker;
  std::string regionKey;
  std::string proofKey;
  uint64_t base = 0;
  uint64_t size = 0;
  uint64_t proofAt = 0;

  std::string encoded() const;
  /// False when the text is no offer.
  static bool decode(const std::string& text, Offer* offer);
};

}  // namespace dynamo::ucx

#endif  // DYNAMO_BACKEND_UCX_OFFER_H_
