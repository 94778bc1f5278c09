#ifndef DYNAMO_BACKEND_CUDA_KERNELS_H_
#define DYNAMO_BACKEND_CUDA_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace dynamo::cuda {

/// One entry of a work list, as the kernels read it: bytes that one thread block copies.
struct Chunk {
  uint64_t source;
  uint64_t target;
  uint64_t bytes;
};

constexpr size_t kParameterBytes = 4096;  ///< that every GPU and driver accepts
constexpr size_t kParameterChunks = 168;  ///< that go as a parameter, beside their count
constexpr unsigned int kThreadsPerBlock = 256;

/// The parameter of `copy_list_inline`: a short work list by value.
struct InlineList {
  uint64_t count;
  Chunk chunks[kParameterChunks];
};
static_assert(sizeof(InlineList) <= kParameterBytes, "a parameter list has at most 4 KiB");

/// The parameters of the `permute` kernels: four dimensions of runs, outermost first, of every block.
struct Permutation {
  uint64_t blocks;  ///< address of pairs {source, target} of addresses
  uint64_t units;   ///< of all blocks together; fits into 32 bits
  uint32_t runUnits;
  uint32_t sizes[3];  ///< of the second, third and fourth dimension
  uint64_t blockUnits;
  uint64_t sourceStrides[4];
  uint64_t targetStrides[4];
};

/// The module: copy_list_inline(InlineList), copy_list(u64 address, u64 count), and permute16, permute4 and
/// permute1 (Permutation) for runs that are multiples of so many bytes, as their addresses and strides are.
extern const char* const kModule;

constexpr const char* kCopyInline = "copy_list_inline";
constexpr const char* kCopyList = "copy_list";

}  // namespace dynamo::cuda

#endif  // DYNAMO_BACKEND_CUDA_KERNELS_H_
