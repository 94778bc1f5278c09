#ifndef DYNAMO_CORE_DISK_RING_H_
#define DYNAMO_CORE_DISK_RING_H_

#include <memory>

#include "disk_io.h"

namespace dynamo {

/// Disk I/O by io_uring, with system calls of its own; null with the kernel's error where it cannot be had.
std::unique_ptr<DiskIo> openRingDiskIo(int* error);

}  // namespace dynamo

#endif  // DYNAMO_CORE_DISK_RING_H_
