#include "launches.h"

#include <algorithm>
#include <cstring>

namespace dynamo::cuda {
namespace {

constexpr uint64_t kBlocksPerMultiprocessor = 8;  // of 256 threads: as many as one holds
constexpr uint64_t kMostGrid = 65535;
constexpr uint64_t kMostUnits = uint64_t{1} << 31;  // the kernel counts them in 32 bits, one grid ahead

static_assert(kPartPieces * sizeof(BlockPair) <= kPartChunks * sizeof(Chunk), "pairs fit into a list");

/// The widest unit that runs, strides and addresses are multiples of: 16, 4 or 1.
uint64_t unitOf(const BlockShape& shape, const BlockPair* blocks, size_t count, uint64_t source,
                uint64_t target) {
  uint64_t all = shape.runBytes | source | target;
  for (int i = 0; i < 4; i++) {
    if (shape.sizes[i] > 1) all |= shape.sourceStrides[i] | shape.targetStrides[i];
  }
  for (size_t i = 0; i < count; i++) all |= blocks[i].source | blocks[i].target;
  return all % 16 == 0 ? 16 : all % 4 == 0 ? 4 : 1;
}

}  // namespace

Result Launches::open(Device& device, std::unique_ptr<Launches>* opened) {
  if (device.kernels().copyInline == nullptr) return kNotSupported;
  std::unique_ptr<Launches> made(new Launches(device));
  const Functions& call = device.functions();
  void* host = nullptr;
  Result result = call.memHostAlloc(&host, kLists * kListBytes, kHostPortable | kHostMapped);
  if (result != kSuccess) return result;
  made->host_ = static_cast<std::byte*>(host);
  result = call.memHostGetDevicePointer(&made->address_, host, 0);
  if (result != kSuccess) return result;
  for (int i = 0; i < static_cast<int>(kLists); i++) made->idle_.push_back(i);
  made->chunks_.reserve(kPartChunks);
  *opened = std::move(made);
  return kSuccess;
}

Launches::~Launches() {
  if (host_ != nullptr) device_.functions().memFreeHost(host_);
}

int Launches::takeList() {
  int list = idle_.back();
  idle_.pop_back();
  return list;
}

void Launches::giveBack(int list) {
  if (list != kNone) idle_.push_back(list);
}

unsigned int Launches::gridOf(uint64_t blocks) const {
  uint64_t most =
      kBlocksPerMultiprocessor * static_cast<uint64_t>(std::max(device_.facts().multiprocessors, 1));
  return static_cast<unsigned int>(std::clamp<uint64_t>(blocks, 1, std::min(most, kMostGrid)));
}

Result Launches::copy(const std::vector<CopyRange>& pieces, uint64_t source, uint64_t target, Stream* stream,
                      int* list) {
  cutChunks(pieces, source, target, &chunks_);
  *list = kNone;
  uint64_t count = chunks_.size();
  if (count <= kParameterChunks) {
    InlineList inlined{};  // the driver copies it before the launch returns
    inlined.count = count;
    std::copy(chunks_.begin(), chunks_.end(), inlined.chunks);
    void* parameters[] = {&inlined};
    return device_.functions().launchKernel(device_.kernels().copyInline, gridOf(count), 1, 1,
                                            kThreadsPerBlock, 1, 1, 0, stream, parameters, nullptr);
  }
  *list = takeList();
  std::memcpy(listAt(*list), chunks_.data(), count * sizeof(Chunk));
  uint64_t address = addressOf(*list);
  void* parameters[] = {&address, &count};
  return device_.functions().launchKernel(device_.kernels().copyList, gridOf(count), 1, 1, kThreadsPerBlock,
                                          1, 1, 0, stream, parameters, nullptr);
}

size_t Launches::blocksOfLaunch(const BlockShape& shape) {
  uint64_t bytes = shape.runBytes;
  for (uint64_t size : shape.sizes) {
    if (size > kMostUnits || __builtin_mul_overflow(bytes, size, &bytes)) return 0;
  }
  if (bytes > kMostUnits) return 0;
  uint64_t blocks = std::max<uint64_t>(1, kPartBytes / bytes);
  return static_cast<size_t>(std::min<uint64_t>(blocks, kPartPieces));
}

Result Launches::permute(const BlockShape& shape, const BlockPair* blocks, size_t count, uint64_t source,
                         uint64_t target, Stream* stream, int* list) {
  uint64_t unit = unitOf(shape, blocks, count, source, target);
  *list = takeList();
  auto* pairs = reinterpret_cast<BlockPair*>(listAt(*list));
  for (size_t i = 0; i < count; i++) pairs[i] = {source + blocks[i].source, target + blocks[i].target};
  Permutation parameters{};
  parameters.blocks = addressOf(*list);
  parameters.runUnits = static_cast<uint32_t>(shape.runBytes / unit);
  parameters.blockUnits = shape.runBytes / unit;
  for (int i = 0; i < 4; i++) {
    parameters.blockUnits *= shape.sizes[i];
    if (i > 0) parameters.sizes[i - 1] = static_cast<uint32_t>(shape.sizes[i]);
    parameters.sourceStrides[i] = shape.sourceStrides[i];
    parameters.targetStrides[i] = shape.targetStrides[i];
  }
  parameters.units = parameters.blockUnits * count;
  const Device::Kernels& kernels = device_.kernels();
  Function* function = unit == 16 ? kernels.permute16 : unit == 4 ? kernels.permute4 : kernels.permute1;
  void* values[] = {&parameters};
  uint64_t grid = (parameters.units + kThreadsPerBlock - 1) / kThreadsPerBlock;
  return device_.functions().launchKernel(function, gridOf(grid), 1, 1, kThreadsPerBlock, 1, 1, 0, stream,
                                          values, nullptr);
}

}  // namespace dynamo::cuda
