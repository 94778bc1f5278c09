#ifndef DYNAMO_BACKEND_NIXL_CAPI_H_
#define DYNAMO_BACKEND_NIXL_CAPI_H_

#include <cstddef>
#include <cstdint>

// The part of NIXL's C interface (libnixl_capi.so of NIXL 1.x) that is used here. These declarations are our
// own, from the documented signatures, so that building needs nothing of NIXL. Every function answers an int.

namespace dynamo::nixl {

// Answers of the C interface. Most failures arrive as kCapiBackend, the loss of a peer among them.
constexpr int kCapiInProgress = 1;
constexpr int kCapiSuccess = 0;
constexpr int kCapiInvalid = -1;
constexpr int kCapiNotFound = -6;

// Kinds of memory; those of io.dynamo.transfer.nixl.MemoryKind.
constexpr int kDram = 0;
constexpr int kVram = 1;
constexpr int kMemoryKinds = 5;

constexpr int kRead = 0;
constexpr int kWrite = 1;
constexpr int kSyncStrict = 1;

/// The configuration of an agent, laid out as the C interface has it.
struct CapiAgentConfig {
  bool progressThread;
  bool listenThread;
  int listenPort;
  int threadSync;
  unsigned workers;
  uint64_t progressDelayMicros;
  uint64_t listenDelayMicros;
  bool telemetry;
};

// Handles of the library: pointers that are never looked into.
using CapiAgent = struct CapiAgentS*;
using CapiBackend = struct CapiBackendS*;
using CapiParams = struct CapiParamsS*;
using CapiMemList = struct CapiMemListS*;
using CapiStrings = struct CapiStringsS*;
using CapiOptions = struct CapiOptionsS*;
using CapiRegList = struct CapiRegListS*;
using CapiXferList = struct CapiXferListS*;
using CapiXferReq = struct CapiXferReqS*;
using CapiNotifMap = struct CapiNotifMapS*;

// Name after nixl_capi_, type. A library without one of them is not used.
#define DYNAMO_NIXL_REQUIRED(F)                                                                  \
  F(create_configured_agent, int (*)(const char*, const CapiAgentConfig*, CapiAgent*))           \
  F(destroy_agent, int (*)(CapiAgent))                                                           \
  F(get_local_md, int (*)(CapiAgent, void**, size_t*))                                           \
  F(load_remote_md, int (*)(CapiAgent, const void*, size_t, char**))                             \
  F(invalidate_remote_md, int (*)(CapiAgent, const char*))                                       \
  F(check_remote_md, int (*)(CapiAgent, const char*, CapiXferList))                              \
  F(get_available_plugins, int (*)(CapiAgent, CapiStrings*))                                     \
  F(string_list_size, int (*)(CapiStrings, size_t*))                                             \
  F(string_list_get, int (*)(CapiStrings, size_t, const char**))                                 \
  F(destroy_string_list, int (*)(CapiStrings))                                                   \
  F(create_params, int (*)(CapiParams*))                                                         \
  F(params_add, int (*)(CapiParams, const char*, const char*))                                   \
  F(destroy_params, int (*)(CapiParams))                                                         \
  F(create_backend, int (*)(CapiAgent, const char*, CapiParams, CapiBackend*))                   \
  F(destroy_backend, int (*)(CapiBackend))                                                       \
  F(get_backend_params, int (*)(CapiAgent, CapiBackend, CapiMemList*, CapiParams*))              \
  F(mem_list_size, int (*)(CapiMemList, size_t*))                                                \
  F(mem_list_get, int (*)(CapiMemList, size_t, int*))                                            \
  F(destroy_mem_list, int (*)(CapiMemList))                                                      \
  F(create_opt_args, int (*)(CapiOptions*))                                                      \
  F(destroy_opt_args, int (*)(CapiOptions))                                                      \
  F(opt_args_add_backend, int (*)(CapiOptions, CapiBackend))                                     \
  F(opt_args_set_has_notif, int (*)(CapiOptions, bool))                                          \
  F(opt_args_set_notif_msg, int (*)(CapiOptions, const void*, size_t))                           \
  F(create_reg_dlist, int (*)(int, CapiRegList*))                                                \
  F(reg_dlist_add_desc, int (*)(CapiRegList, uintptr_t, size_t, uint64_t, const void*, size_t))  \
  F(destroy_reg_dlist, int (*)(CapiRegList))                                                     \
  F(register_mem, int (*)(CapiAgent, CapiRegList, CapiOptions))                                  \
  F(deregister_mem, int (*)(CapiAgent, CapiRegList, CapiOptions))                                \
  F(create_xfer_dlist, int (*)(int, CapiXferList*))                                              \
  F(xfer_dlist_add_desc, int (*)(CapiXferList, uintptr_t, size_t, uint64_t))                     \
  F(destroy_xfer_dlist, int (*)(CapiXferList))                                                   \
  F(create_xfer_req,                                                                             \
    int (*)(CapiAgent, int, CapiXferList, CapiXferList, const char*, CapiXferReq*, CapiOptions)) \
  F(post_xfer_req, int (*)(CapiAgent, CapiXferReq, CapiOptions))                                 \
  F(get_xfer_status, int (*)(CapiAgent, CapiXferReq))                                            \
  F(release_xfer_req, int (*)(CapiAgent, CapiXferReq))                                           \
  F(destroy_xfer_req, int (*)(CapiXferReq))                                                      \
  F(gen_notif, int (*)(CapiAgent, const char*, const void*, size_t, CapiOptions))                \
  F(create_notif_map, int (*)(CapiNotifMap*))                                                    \
  F(get_notifs, int (*)(CapiAgent, CapiNotifMap, CapiOptions))                                   \
  F(notif_map_size, int (*)(CapiNotifMap, size_t*))                                              \
  F(notif_map_get_agent_at, int (*)(CapiNotifMap, size_t, const char**))                         \
  F(notif_map_get_notifs_size, int (*)(CapiNotifMap, const char*, size_t*))                      \
  F(notif_map_get_notif, int (*)(CapiNotifMap, const char*, size_t, const void**, size_t*))      \
  F(destroy_notif_map, int (*)(CapiNotifMap))

/// The functions of one loaded library.
struct Capi {
#define DYNAMO_NIXL_MEMBER(name, ...) decltype(static_cast<__VA_ARGS__>(nullptr)) name = nullptr;
  DYNAMO_NIXL_REQUIRED(DYNAMO_NIXL_MEMBER)
#undef DYNAMO_NIXL_MEMBER
};

}  // namespace dynamo::nixl

#endif  // DYNAMO_BACKEND_NIXL_CAPI_H_
