#include "offer.h"

#include <cstring>

namespace dynamo::ucx {
namespace {

constexpr char kMagic[4] = {'D', 'K', 'U', '1'};
constexpr uint32_t kLongestPart = 16384;

/// The beginning of an offer, little-endian as both processors that this is built for; the parts follow.
struct Head {
  char magic[4];
  uint32_t workerBytes;
  uint32_t regionKeyBytes;
  uint32_t proofKeyBytes;
  uint64_t base;
  uint64_t size;
  uint64_t proofAt;
};
static_assert(sizeof(Head) == 40, "an offer has no gaps");

}  // namespace

std::string Offer::encoded() const {
  Head head{{},
            static_cast<uint32_t>(worker.size()),
            static_cast<uint32_t>(regionKey.size()),
            static_cast<uint32_t>(proofKey.size()),
            base,
            size,
            proofAt};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + worker + regionKey + proofKey;
}

bool Offer::decode(const std::string& text, Offer* offer) {
  Head head;
  if (text.size() < sizeof head) return false;
  std::memcpy(&head, text.data(), sizeof head);
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0 || head.workerBytes > kLongestPart ||
      head.regionKeyBytes > kLongestPart || head.proofKeyBytes > kLongestPart || head.workerBytes == 0 ||
      head.regionKeyBytes == 0 || head.proofKeyBytes == 0 || head.size > ~uint64_t{0} - head.base ||
      text.size() != sizeof head + size_t{head.workerBytes} + head.regionKeyBytes + head.proofKeyBytes) {
    return false;
  }
  offer->worker = text.substr(sizeof head, head.workerBytes);
  offer->regionKey = text.substr(sizeof head + head.workerBytes, head.regionKeyBytes);
  offer->proofKey = text.substr(sizeof head + head.workerBytes + head.regionKeyBytes);
  offer->base = head.base;
  offer->size = head.size;
  offer->proofAt = head.proofAt;
  return true;
}

}  // namespace dynamo::ucx
