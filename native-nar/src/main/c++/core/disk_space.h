#ifndef DYNAMO_CORE_DISK_SPACE_H_
#define DYNAMO_CORE_DISK_SPACE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "disk_file.h"
#include "disk_io.h"
#include "faults.h"
#include "regions.h"
#include "status.h"

namespace dynamo {

/// One file of scratch space, with reads into regions and writes out of them. A region stays pinned until the
/// kernel has let go of it, however its request ends. Safe for concurrent use.
class DiskSpace {
 public:
  /// A range of the file and one of a region, of the same length.
  struct Range {
    uint64_t region;
    uint64_t regionOffset;
    uint64_t offset;
    uint64_t bytes;
  };

  struct Options {
    std::string folder;
    uint64_t bytes;
    DiskFile::Cache cache;
    DiskIo::Way way;
    FaultPlan faults;  // of tests; empty
  };

  /// `error` is the errno of a failure, or 0.
  static Status open(RegionTable& table, Options options, std::unique_ptr<DiskSpace>* opened, int* error);
  ~DiskSpace() { close(); }
  DiskSpace(const DiskSpace&) = delete;
  DiskSpace& operator=(const DiskSpace&) = delete;

  const DiskFile& file() const { return *file_; }
  DiskIo::Way way() const { return io_->way(); }

  /// Begins to move a range; see DiskIo::submit().
  Status submit(uint64_t ticket, bool write, const Range& range, uint64_t deadlineNanos);
  void cancel(uint64_t ticket) { io_->cancel(ticket); }
  /// Waits for completions; kStale when it is closed and none is left.
  Status await(uint64_t maxNanos, std::vector<DiskIo::Completion>* ended);
  void close();

 private:
  DiskSpace(RegionTable& table, std::unique_ptr<DiskFile> file, std::unique_ptr<DiskIo> io)
      : table_(table), file_(std::move(file)), io_(std::move(io)) {}

  RegionTable& table_;
  std::unique_ptr<DiskFile> file_;
  std::unique_ptr<DiskIo> io_;
  std::mutex mutex_;  // guards the rest
  std::unordered_map<uint64_t, std::unique_ptr<RegionTable::Pin>> pins_;
  bool closed_ = false;
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_DISK_SPACE_H_
