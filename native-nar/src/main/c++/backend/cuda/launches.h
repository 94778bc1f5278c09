#ifndef DYNAMO_BACKEND_CUDA_LAUNCHES_H_
#define DYNAMO_BACKEND_CUDA_LAUNCHES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../../core/permutation.h"
#include "copy_plan.h"
#include "device.h"
#include "kernels.h"

namespace dynamo::cuda {

/// Starts the kernels of a device. Short work lists go with the launch; others stand in a pool of lists in
/// pinned memory, which belong to a launch until it has ended. For one thread, whose context is current.
class Launches {
 public:
  static constexpr size_t kLists = 16;
  static constexpr int kNone = -1;

  /// kUnsupported when the device has no kernels.
  static Result open(Device& device, std::unique_ptr<Launches>* opened);
  ~Launches();
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  /// Whether a further launch finds a list.
  bool hasList() const { return !idle_.empty(); }
  /// Starts to copy pieces; `list` is given back when that has ended, unless it is kNone.
  Result copy(const std::vector<CopyRange>& pieces, uint64_t source, uint64_t target, Stream* stream,
              int* list);
  /// Starts to move blocks, whose offsets are from the two addresses, at most kPartPieces of them.
  Result permute(const BlockShape& shape, const BlockPair* blocks, size_t count, uint64_t source,
                 uint64_t target, Stream* stream, int* list);
  void giveBack(int list);

  /// Blocks of this shape that one launch can move; 0 when not even one.
  static size_t blocksOfLaunch(const BlockShape& shape);

 private:
  static constexpr size_t kListBytes = kPartChunks * sizeof(Chunk);

  explicit Launches(Device& device) : device_(device) {}

  int takeList();
  std::byte* listAt(int list) const { return host_ + static_cast<size_t>(list) * kListBytes; }
  uint64_t addressOf(int list) const { return address_ + static_cast<uint64_t>(list) * kListBytes; }
  unsigned int gridOf(uint64_t blocks) const;

  Device& device_;
  std::byte* host_ = nullptr;
  DeviceAddress address_ = 0;
  std::vector<int> idle_;
  std::vector<Chunk> chunks_;
};

}  // namespace dynamo::cuda

#endif  // DYNAMO_BACKEND_CUDA_LAUNCHES_H_
