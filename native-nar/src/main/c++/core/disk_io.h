#ifndef DYNAMO_CORE_DISK_IO_H_
#define DYNAMO_CORE_DISK_IO_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "disk_file.h"
#include "status.h"

namespace dynamo {

/// Reads and writes ranges of files in the background. Each request ends once, with all its bytes or a
/// failure; short results of the kernel are continued. Its memory and its file have to stay until then: also
/// after a cancel, or the end of its deadline, the kernel may use them. Safe for concurrent use.
class DiskIo {
 public:
  enum class Way { kBest, kRing, kThreads };

  struct Request {
    uint64_t ticket;
    bool write;
    const DiskFile* file;
    uint64_t offset;
    std::byte* memory;
    uint64_t bytes;
    uint64_t deadlineNanos;  // of the steady clock; 0 for none
  };

  struct Completion {
    uint64_t ticket;
    Status status;
    uint64_t bytes;  // that were moved, also by one that failed
    int error;       // the errno of one that ended with kIo; 0 where the file ended before its size
  };

  static constexpr size_t kMostRequests = 4096;
  static constexpr uint64_t kPieceBytes = uint64_t{1} << 20;  // a cancel waits for no more than one

  /// kBest takes a ring, or threads where the kernel forbids rings (containers do); `why` says so.
  /// kIo when the way that is asked for cannot be had.
  static Status open(Way way, std::unique_ptr<DiskIo>* opened, const char** why);
  DiskIo() = default;
  virtual ~DiskIo() = default;
  DiskIo(const DiskIo&) = delete;
  DiskIo& operator=(const DiskIo&) = delete;

  virtual Way way() const = 0;
  /// Begins a request. kRange or kInvalid when it can never be right, kBusy when too many run, kStale when
  /// closed.
  virtual Status submit(const Request& request) = 0;
  /// Gives a request up; its completion follows, at once when nobody has begun it. Of no effect on one that
  /// has ended.
  virtual void cancel(uint64_t ticket) = 0;
  /// Waits for completions; none when `maxNanos` passes, or it is closed and all have been taken. Meanwhile
  /// ends queued requests whose deadline passes, however long the disk takes with those before them.
  virtual std::vector<Completion> await(uint64_t maxNanos) = 0;
  /// Cancels what runs, and returns when the kernel touches none of it any more. Idempotent.
  virtual void close() = 0;
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_DISK_IO_H_
