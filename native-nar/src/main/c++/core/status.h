#ifndef DYNAMO_CORE_STATUS_H_
#define DYNAMO_CORE_STATUS_H_

namespace dynamo {

/// What an operation came to. The numbers cross JNI and are those of io.dynamo.natives.NativeStatus.
enum class Status : int {
  kOk = 0,
  kCancelled = -1,    ///< its caller gave it up
  kInvalid = -2,      ///< an argument that can never be right, e.g. overlapping ranges
  kRange = -3,        ///< a range that leaves its region
  kStale = -4,        ///< a handle whose region was released, or that never was one
  kPeerLost = -5,     ///< the other process is not there any more
  kBackend = -6,      ///< a failure that nobody foresaw
  kIo = -7,           ///< the kernel refused
  kTimeout = -8,      ///< its deadline passed
  kUnsupported = -9,  ///< this machine has no way to do it
  kNoMemory = -10,    ///< the machine has not so many bytes
  kBusy = -11,        ///< a counter is at its end; try again later
  kCorrupt = -12,     ///< bytes that nobody can have meant, e.g. a record longer than its ring
  kDeviceLost = -13,  ///< the GPU failed in a way that ends all work on it
  kAuth = -14,        ///< the other process is another user's, or does not know the secret
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_STATUS_H_
