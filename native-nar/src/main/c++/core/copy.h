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

/// Checks every range of a batch: kRange when one leaves its region, kInvalid when the outcome would depend
/// on the order (two targets overlap, or a target overlaps a source of the same region).
Status checkRanges(const RegionTable::Pin& from, const RegionTable::Pin& to, bool oneRegion,
                   const CopyRange* ranges, size_t count);

/// Joins neighbours in place, and drops empty ranges. Returns how many are left.
size_t mergeRanges(CopyRange* ranges, size_t count);

/// Copies every range of a batch, or none, as checkRanges() decides.
Status copyRanges(RegionTable& table, uint64_t source, uint64_t target, const CopyRange* ranges,
                  size_t count);

}  // namespace dynamo

#endif  // DYNAMO_CORE_COPY_H_
