#ifndef DYNAMO_BACKEND_CUDA_COPY_PLAN_H_
#define DYNAMO_BACKEND_CUDA_COPY_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/copy.h"
#include "kernels.h"

namespace dynamo::cuda {

/// Where a side of a copy is, as far as the choice of a method goes.
enum class Place {
  kPageable,  ///< host memory that the driver has to stage
  kPinned,    ///< host memory that the device reaches
  kDevice,
};

/// How a part of a copy is handed to the driver.
enum class Method {
  kSingle,  ///< a call for each piece
  kBatch,   ///< one call for all pieces
  kKernel,  ///< threads of the GPU copy
};

/// The methods that there are beside single calls.
struct Methods {
  bool batch;
  bool kernel;
};

constexpr size_t kFewPieces = 8;
constexpr uint64_t kLargePiece = uint64_t{1} << 20;
constexpr uint64_t kSmallPiece = 64 * 1024;
constexpr size_t kManyPieces = 128;
constexpr uint64_t kChunkBytes = 64 * 1024;  ///< a thread block's share: at least so much of a large piece
constexpr uint64_t kPageablePartBytes = uint64_t{1} << 20;
constexpr uint64_t kPartBytes = uint64_t{32} << 20;
constexpr size_t kPartPieces = 4096;
/// The most chunks that a part is cut into.
constexpr size_t kPartChunks = kPartPieces + kPartBytes / kChunkBytes;

/// Chooses the method for so many pieces of so many bytes together.
Method chooseMethod(Place from, Place to, size_t pieces, uint64_t bytes, Methods there);

/// Takes the next pieces of a copy, at most one part of it.
/// @param next the range to go on with, and `within` the bytes of it that were taken
/// @return the bytes taken
uint64_t takePart(const std::vector<CopyRange>& ranges, uint64_t mostBytes, size_t* next, uint64_t* within,
                  std::vector<CopyRange>* part);

/// Cuts pieces into chunks of 64 to 128 KiB, smaller ones left whole, at addresses of both sides.
void cutChunks(const std::vector<CopyRange>& part, uint64_t source, uint64_t target,
               std::vector<Chunk>* chunks);

}  // namespace dynamo::cuda

#endif  // DYNAMO_BACKEND_CUDA_COPY_PLAN_H_
