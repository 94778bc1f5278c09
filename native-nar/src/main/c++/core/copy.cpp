#include "copy.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace dynamo {
namespace {

struct Interval {
  uint64_t begin;
  uint64_t end;
  bool written;
};

/// Blocks mostly come in order; then one pass without memory decides.
bool targetsAscend(const CopyRange* ranges, size_t count) {
  uint64_t end = 0;
  for (size_t i = 0; i < count; i++) {
    if (ranges[i].length == 0) continue;
    if (ranges[i].target < end) return false;
    end = ranges[i].target + ranges[i].length;
  }
  return true;
}

/// Whether any written byte is also written or read by another range. The ranges are within their regions.
bool overlaps(const CopyRange* ranges, size_t count, bool oneRegion) {
  if (!oneRegion && targetsAscend(ranges, count)) return false;
  std::vector<Interval> intervals;
  intervals.reserve(oneRegion ? 2 * count : count);
  for (size_t i = 0; i < count; i++) {
    const CopyRange& range = ranges[i];
    if (range.length == 0) continue;
    intervals.push_back({range.target, range.target + range.length, true});
    if (oneRegion) intervals.push_back({range.source, range.source + range.length, false});
  }
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  uint64_t anyEnd = 0;
  uint64_t writtenEnd = 0;
  for (const Interval& interval : intervals) {
    if (interval.begin < (interval.written ? anyEnd : writtenEnd)) return true;
    anyEnd = std::max(anyEnd, interval.end);
    if (interval.written) writtenEnd = std::max(writtenEnd, interval.end);
  }
  return false;
}

}  // namespace

Status checkRanges(const RegionTable::Pin& from, const RegionTable::Pin& to, bool oneRegion,
                   const CopyRange* ranges, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (from.at(ranges[i].source, ranges[i].length) == nullptr ||
        to.at(ranges[i].target, ranges[i].length) == nullptr) {
      return Status::kRange;
    }
  }
  return overlaps(ranges, count, oneRegion) ? Status::kInvalid : Status::kOk;
}

size_t mergeRanges(CopyRange* ranges, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    const CopyRange range = ranges[i];
    if (range.length == 0) continue;
    CopyRange* last = kept == 0 ? nullptr : &ranges[kept - 1];
    if (last != nullptr && range.source == last->source + last->length &&
        range.target == last->target + last->length) {
      last->length += range.length;
    } else {
      ranges[kept++] = range;
    }
  }
  return kept;
}

Status copyRanges(RegionTable& table, uint64_t source, uint64_t target, const CopyRange* ranges,
                  size_t count) {
  RegionTable::Pin from;
  RegionTable::Pin to;
  Status pinned = table.pin(source, &from);
  if (pinned == Status::kOk) pinned = table.pin(target, &to);
  if (pinned != Status::kOk) return pinned;
  Status checked = checkRanges(from, to, source == target, ranges, count);
  if (checked != Status::kOk) return checked;
  // Neighbours go in one memcpy, which picks its own way by size (vector, string or non-temporal stores).
  for (size_t i = 0; i < count;) {
    CopyRange run = ranges[i++];
    while (i < count && ranges[i].source == run.source + run.length &&
           ranges[i].target == run.target + run.length) {
      run.length += ranges[i++].length;
    }
    std::memcpy(to.at(run.target, run.length), from.at(run.source, run.length), run.length);
  }
  return Status::kOk;
}

}  // namespace dynamo
