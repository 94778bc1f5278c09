#ifndef DYNAMO_BACKEND_UCX_CAPI_H_
#define DYNAMO_BACKEND_UCX_CAPI_H_

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

// The part of UCP's C interface (libucp.so.0 of UCX 1.13 and later) that is used here. These declarations are
// our own, from the documented interface, so that building needs nothing of UCX. A structure says by a mask
// which of its fields are given, so that later versions may add fields at its end.

namespace dynamo::ucx {

/// An answer of UCP: 0, or a negative number.
using UcpStatus = int8_t;
constexpr UcpStatus kUcpOk = 0;
constexpr UcpStatus kUcpInProgress = 1;
constexpr UcpStatus kUcpNoMemory = -4;
constexpr UcpStatus kUcpNoDevice = -14;
constexpr UcpStatus kUcpBusy = -15;
constexpr UcpStatus kUcpTimedOut = -20;
constexpr UcpStatus kUcpLastError = -100;

constexpr unsigned kUcpApiMajor = 1;
constexpr unsigned kUcpApiMinor = 13;

// Handles of the library: pointers that are never looked into.
using UcpContext = struct UcpContextS*;
using UcpConfig = struct UcpConfigS*;
using UcpWorker = struct UcpWorkerS*;
using UcpEndpoint = struct UcpEndpointS*;
using UcpMemory = struct UcpMemoryS*;
using UcpKey = struct UcpKeyS*;
using UcpAddress = struct UcpAddressS*;

/// What starts an operation answers: null when it is done, an error as a pointer, or a request.
using UcpRequest = void*;

inline bool isError(UcpRequest request) {
  return reinterpret_cast<uintptr_t>(request) >= static_cast<uintptr_t>(intptr_t{kUcpLastError});
}
inline UcpStatus errorOf(UcpRequest request) {
  return static_cast<UcpStatus>(reinterpret_cast<intptr_t>(request));
}

struct UcpParams {
  static constexpr uint64_t kHasFeatures = 1;
  static constexpr uint64_t kHasSharedWorkers = 1 << 5;
  static constexpr uint64_t kRemoteMemory = 1 << 1;  ///< of features: put and get
  static constexpr uint64_t kWakeUp = 1 << 4;        ///< of features: a descriptor to wait for

  uint64_t mask;
  uint64_t features;
  size_t requestBytes;
  void (*initRequest)(void*);
  void (*cleanRequest)(void*);
  uint64_t tagSenderMask;
  int sharedWorkers;
  size_t endpoints;
  size_t processes;
  const char* name;
  size_t nodeLocalId;
};

struct UcpWorkerParams {
  static constexpr uint64_t kHasThreadMode = 1;
  static constexpr int kOneThread = 0;

  uint64_t mask;
  int threadMode;
  uint64_t processors[16];
  unsigned events;
  void* userData;
  int eventDescriptor;
  uint64_t flags;
  const char* name;
  size_t messageAlignment;
  uint64_t clientId;
};

using UcpErrorCallback = void (*)(void* argument, UcpEndpoint endpoint, UcpStatus status);

struct UcpSocketAddress {
  const sockaddr* address;
  socklen_t length;
};

struct UcpEndpointParams {
  static constexpr uint64_t kHasAddress = 1;
  static constexpr uint64_t kHasErrorMode = 1 << 1;
  static constexpr uint64_t kHasErrorHandler = 1 << 2;
  static constexpr int kPeerErrors = 1;

  uint64_t mask;
  const void* address;
  int errorMode;
  UcpErrorCallback onError;
  void* onErrorArgument;
  void* userData;
  unsigned flags;
  UcpSocketAddress remote;
  void* connectionRequest;
  const char* name;
  UcpSocketAddress local;
};

struct UcpMemoryParams {
  static constexpr uint64_t kHasAddress = 1;
  static constexpr uint64_t kHasLength = 1 << 1;
  static constexpr uint64_t kHasProtection = 1 << 3;
  static constexpr uint64_t kHasType = 1 << 4;
  static constexpr unsigned kLocalRead = 1;
  static constexpr unsigned kLocalWrite = 1 << 1;
  static constexpr unsigned kRemoteRead = 1 << 8;
  static constexpr unsigned kRemoteWrite = 1 << 9;
  static constexpr int kHost = 0;

  uint64_t mask;
  void* address;
  size_t length;
  unsigned flags;
  unsigned protection;
  int type;
  const void* exportedBuffer;
};

using UcpCallback = void (*)(UcpRequest request, UcpStatus status, void* userData);

struct UcpRequestParams {
  static constexpr uint32_t kHasCallback = 1 << 1;
  static constexpr uint32_t kHasUserData = 1 << 2;
  static constexpr uint32_t kHasFlags = 1 << 4;
  static constexpr uint32_t kHasMemory = 1 << 8;
  static constexpr uint32_t kForce = 1;  ///< of flags when an endpoint is closed

  uint32_t mask;
  uint32_t flags;
  void* request;
  UcpCallback callback;
  uint64_t datatype;
  void* userData;
  void* replyBuffer;
  int memoryType;
  void* receiveInfo;
  UcpMemory memory;
  uint64_t remoteDatatype;
  const void* remote;
  size_t remoteCount;
};

/// A transport and its device that an endpoint uses.
struct UcpTransport {
  const char* transport;
  const char* device;
};

/// What an endpoint is asked for; transports are known from UCX 1.14 on.
struct UcpEndpointFacts {
  static constexpr uint64_t kTransports = 1 << 3;

  uint64_t mask;
  char name[32];
  sockaddr_storage local;
  sockaddr_storage remote;
  UcpTransport* transports;
  unsigned transportCount;
  size_t transportBytes;
  void* userData;
};

// A function that is missing makes the library absent.
#define DYNAMO_UCX_REQUIRED(X)                                                                           \
  X(ucp_get_version, void (*)(unsigned*, unsigned*, unsigned*))                                          \
  X(ucp_init_version, UcpStatus (*)(unsigned, unsigned, const UcpParams*, const UcpConfig, UcpContext*)) \
  X(ucp_cleanup, void (*)(UcpContext))                                                                   \
  X(ucp_config_read, UcpStatus (*)(const char*, const char*, UcpConfig*))                                \
  X(ucp_config_modify, UcpStatus (*)(UcpConfig, const char*, const char*))                               \
  X(ucp_config_release, void (*)(UcpConfig))                                                             \
  X(ucp_worker_create, UcpStatus (*)(UcpContext, const UcpWorkerParams*, UcpWorker*))                    \
  X(ucp_worker_destroy, void (*)(UcpWorker))                                                             \
  X(ucp_worker_progress, unsigned (*)(UcpWorker))                                                        \
  X(ucp_worker_get_efd, UcpStatus (*)(UcpWorker, int*))                                                  \
  X(ucp_worker_arm, UcpStatus (*)(UcpWorker))                                                            \
  X(ucp_worker_get_address, UcpStatus (*)(UcpWorker, UcpAddress*, size_t*))                              \
  X(ucp_worker_release_address, void (*)(UcpWorker, UcpAddress))                                         \
  X(ucp_ep_create, UcpStatus (*)(UcpWorker, const UcpEndpointParams*, UcpEndpoint*))                     \
  X(ucp_ep_query, UcpStatus (*)(UcpEndpoint, UcpEndpointFacts*))                                         \
  X(ucp_ep_flush_nbx, UcpRequest (*)(UcpEndpoint, const UcpRequestParams*))                              \
  X(ucp_ep_close_nbx, UcpRequest (*)(UcpEndpoint, const UcpRequestParams*))                              \
  X(ucp_mem_map, UcpStatus (*)(UcpContext, const UcpMemoryParams*, UcpMemory*))                          \
  X(ucp_mem_unmap, UcpStatus (*)(UcpContext, UcpMemory))                                                 \
  X(ucp_rkey_pack, UcpStatus (*)(UcpContext, UcpMemory, void**, size_t*))                                \
  X(ucp_rkey_buffer_release, void (*)(void*))                                                            \
  X(ucp_ep_rkey_unpack, UcpStatus (*)(UcpEndpoint, const void*, UcpKey*))                                \
  X(ucp_rkey_destroy, void (*)(UcpKey))                                                                  \
  X(ucp_put_nbx,                                                                                         \
    UcpRequest (*)(UcpEndpoint, const void*, size_t, uint64_t, UcpKey, const UcpRequestParams*))         \
  X(ucp_get_nbx, UcpRequest (*)(UcpEndpoint, void*, size_t, uint64_t, UcpKey, const UcpRequestParams*))  \
  X(ucp_request_check_status, UcpStatus (*)(void*))                                                      \
  X(ucp_request_free, void (*)(void*))

/// The functions of one library.
struct Capi {
#define DYNAMO_UCX_FIELD(name, ...) decltype(static_cast<__VA_ARGS__>(nullptr)) name = nullptr;
  DYNAMO_UCX_REQUIRED(DYNAMO_UCX_FIELD)
#undef DYNAMO_UCX_FIELD
};

}  // namespace dynamo::ucx

#endif  // DYNAMO_BACKEND_UCX_CAPI_H_
