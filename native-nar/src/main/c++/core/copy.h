#ifndef DYNAMO_CORE_COPY_H_
#define DYNAMO_CORE_COPY_H_

#include <cstddef>
#include <cstdint>

#include "regions.h"

namespace dynamo {

/// Bytes to copy, laid out as the triples that Java hands over.
struct CopyRange {
  uint64_t source;
  uint64_t target;
  uint64_t length;
};

/// Copies every range of a batch, or none: kRange when one leaves its region, kInvalid when the outcome would
/// depend on the order (two targets overlap, or a target overlaps a source of the same region).
Status copyRanges(RegionTable& table, uint64_t source, uint64_t target, const CopyRange* ranges,
                  size_t count);

}  // namespace dynamo

#endif  // DYNAMO_CORE_COPY_H_
