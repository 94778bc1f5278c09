#include "library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "../../core/json.h"
#include "../../core/libraries.h"
#include "environment.h"

namespace dynamo::ucx {
namespace {

constexpr unsigned kNamesTransports = 14;  // the minor version since which it does

Libraries<Library>& libraries() {
  static Libraries<Library>& only = *new Libraries<Library>;
  return only;
}

/// Null when a function is missing or the version too old; `*why` names them.
const Library* resolved(void* handle, const std::string& path, std::string* why) {
  Library found{path, "", false, {}};
  std::string missing;
#define DYNAMO_UCX_RESOLVE(name, ...)                                                  \
  found.capi.name = reinterpret_cast<decltype(found.capi.name)>(dlsym(handle, #name)); \
  if (found.capi.name == nullptr) missing += std::string(missing.empty() ? "" : ", ") + #name;
  DYNAMO_UCX_REQUIRED(DYNAMO_UCX_RESOLVE)
#undef DYNAMO_UCX_RESOLVE
  if (!missing.empty()) {
    *why = "has no " + missing;
    return nullptr;
  }
  unsigned major = 0, minor = 0, release = 0;
  found.capi.ucp_get_version(&major, &minor, &release);
  found.version = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
  found.namesTransports = minor >= kNamesTransports;
  if (major != kUcpApiMajor || minor < kUcpApiMinor) {
    *why = "is version " + found.version + ", and 1.13 or a later 1.x is needed";
    return nullptr;
  }
  return new Library(found);
}

}  // namespace

const Library* openLibrary(const std::vector<std::string>& candidates, std::string* why) {
  auto prepare = [] {
    prepareEnvironment();
    static std::once_flag once;
    // every refusal is reported by its status
    std::call_once(once, [] { setenv("UCX_LOG_LEVEL", "fatal", 0); });
  };
  return libraries().open(candidates, "libucp.so.0", prepare, resolved, why);
}

UcpContext makeContext(const Capi& capi, const std::string& transports, std::string* why) {
  UcpConfig config = nullptr;
  UcpStatus status = capi.ucp_config_read(nullptr, nullptr, &config);
  if (status != kUcpOk) {
    *why = "UCX refuses its configuration, status " + std::to_string(status);
    return nullptr;
  }
  UcpContext context = nullptr;
  status = capi.ucp_config_modify(config, "TLS", transports.c_str());
  if (status == kUcpOk) {
    // A cache would keep memory registered, and its keys valid, after the end of a lease. Versions that do
    // not know the setting have no such cache unless they hook into the allocation of memory.
    capi.ucp_config_modify(config, "RCACHE_ENABLE", "n");
    UcpParams params{};
    params.mask = UcpParams::kHasFeatures | UcpParams::kHasSharedWorkers;
    params.features = UcpParams::kRemoteMemory | UcpParams::kWakeUp;
    params.sharedWorkers = 0;  // one thread has them all
    status = capi.ucp_init_version(kUcpApiMajor, kUcpApiMinor, &params, config, &context);
  }
  capi.ucp_config_release(config);
  if (status == kUcpOk) return context;
  *why = status == kUcpNoDevice ? "UCX finds no device for the transports " + transports
                                : "UCX makes no context, status " + std::to_string(status);
  return nullptr;
}

std::string probeLibrary(const std::vector<std::string>& candidates, const std::string& transports) {
  std::string why;
  const Library* library = openLibrary(candidates, &why);
  UcpContext context = library == nullptr ? nullptr : makeContext(library->capi, transports, &why);
  if (context == nullptr) {
    std::string where = library == nullptr ? ""
                                           : ",\"path\":" + quoted(library->path) +
                                                 ",\"version\":" + quoted(library->version);
    return "{\"present\":false" + where + ",\"reason\":" + quoted(why) + "}";
  }
  library->capi.ucp_cleanup(context);
  return "{\"present\":true,\"path\":" + quoted(library->path) + ",\"version\":" + quoted(library->version) +
         "}";
}

}  // namespace dynamo::ucx
