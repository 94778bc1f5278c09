#include "disk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <vector>

#ifndef STATX_DIOALIGN  // Linux 6.1
#define STATX_DIOALIGN 0x2000U
#endif

namespace dynamo {
namespace {

constexpr uint64_t kAllocationPiece = uint64_t{1} << 30;
constexpr int kMostInterruptions = 100;
constexpr uint32_t kUsualAlignment = 4096;

/// The status of errno, which the caller is told, too.
Status statusOf(int* error) {
  *error = errno;
  switch (errno) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Status::kNoMemory;
    case EMFILE:
    case ENFILE:
      return Status::kBusy;
    default:
      return Status::kIo;
  }
}

UniqueFd nameless(const std::string& folder, int flags) {
  UniqueFd file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600));
  if (file.isOpen() || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string path = folder + "/dynamo-blocks-XXXXXX";
  std::vector<char> name(path.begin(), path.end());
  name.push_back('\0');
  UniqueFd named(mkostemp(name.data(), O_CLOEXEC | flags));
  if (named.isOpen()) unlink(name.data());
  return named;
}

}  // namespace

Status DiskFile::create(const std::string& folder, uint64_t bytes, Cache wanted,
                        std::unique_ptr<DiskFile>* made, int* error) {
  *error = 0;
  if (bytes == 0 || bytes > static_cast<uint64_t>(LLONG_MAX)) return Status::kInvalid;
  std::unique_ptr<DiskFile> one(new DiskFile);
  one->cache_ = wanted;
  one->file_ = nameless(folder, wanted == Cache::kBypassed ? O_DIRECT : 0);
  if (!one->file_.isOpen() && wanted == Cache::kBypassed && errno == EINVAL) {
    one->cache_ = Cache::kUsed;  // a file system that has no direct I/O
    one->file_ = nameless(folder, 0);
  }
  if (!one->file_.isOpen()) return statusOf(error);
  struct statvfs room {};
  // Asked first: some file systems fill the disk with what they then take back.
  if (fstatvfs(one->file_.get(), &room) == 0 &&
      room.f_bavail < bytes / std::max<uint64_t>(room.f_frsize, 1)) {
    *error = ENOSPC;
    return Status::kNoMemory;
  }
  int interruptions = 0;
  for (uint64_t at = 0; at < bytes;) {
    uint64_t piece = std::min(kAllocationPiece, bytes - at);
    if (fallocate(one->file_.get(), 0, static_cast<off_t>(at), static_cast<off_t>(piece)) == 0) {
      at += piece;
    } else if (errno != EINTR || ++interruptions > kMostInterruptions) {
      return statusOf(error);
    }
  }
  one->bytes_ = bytes;
  if (one->cache_ == Cache::kBypassed) one->askAlignment();
  *made = std::move(one);
  return Status::kOk;
}

void DiskFile::askAlignment() {
  offsetAlignment_ = memoryAlignment_ = kUsualAlignment;
#if defined(STATX_BASIC_STATS)
  struct statx answer {};
  if (statx(file_.get(), "", AT_EMPTY_PATH, STATX_DIOALIGN | STATX_BASIC_STATS, &answer) != 0) return;
  if ((answer.stx_mask & STATX_DIOALIGN) != 0 && answer.stx_dio_offset_align != 0) {
    offsetAlignment_ = answer.stx_dio_offset_align;
    memoryAlignment_ = std::max<uint32_t>(answer.stx_dio_mem_align, 1);
  } else if (answer.stx_blksize != 0) {
    offsetAlignment_ = memoryAlignment_ = answer.stx_blksize;
  }
#endif
}

Status DiskFile::check(uint64_t offset, const std::byte* memory, uint64_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) return Status::kRange;
  bool aligned = offset % offsetAlignment_ == 0 && bytes % offsetAlignment_ == 0 &&
                 reinterpret_cast<uintptr_t>(memory) % memoryAlignment_ == 0;
  return aligned ? Status::kOk : Status::kInvalid;
}

}  // namespace dynamo
