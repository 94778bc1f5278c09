#include "library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "../../core/json.h"
#include "../../core/libraries.h"
#include "../ucx/environment.h"

namespace dynamo::nixl {
namespace {

Libraries<Library>& libraries() {
  static Libraries<Library>& only = *new Libraries<Library>;
  return only;
}

/// NIXL reads its environment, and UCX that it brings, when it is mapped.
void prepareEnvironment(const std::string& pluginFolder) {
  ucx::prepareEnvironment();
  const char* known = std::getenv("NIXL_PLUGIN_DIR");
  if (pluginFolder.empty() || (known != nullptr && pluginFolder == known)) return;
  setenv("NIXL_PLUGIN_DIR", pluginFolder.c_str(), 1);
}

/// Null when a function is missing; `*why` names them.
const Library* resolved(void* handle, const std::string& path, std::string* why) {
  auto isStub = reinterpret_cast<bool (*)()>(dlsym(handle, "nixl_capi_is_stub"));
  if (isStub != nullptr && isStub()) {
    *why = "is a stub without NIXL behind it";
    return nullptr;
  }
  Library found{path, {}};
  std::string missing;
#define DYNAMO_NIXL_RESOLVE(name, ...)                                                              \
  found.capi.name = reinterpret_cast<decltype(found.capi.name)>(dlsym(handle, "nixl_capi_" #name)); \
  if (found.capi.name == nullptr) missing += std::string(missing.empty() ? "" : ", ") + "nixl_capi_" #name;
  DYNAMO_NIXL_REQUIRED(DYNAMO_NIXL_RESOLVE)
#undef DYNAMO_NIXL_RESOLVE
  if (missing.empty()) return new Library(found);
  *why = "has no " + missing;
  return nullptr;
}

}  // namespace

const Library* openLibrary(const std::vector<std::string>& candidates, const std::string& pluginFolder,
                           std::string* why) {
  auto prepare = [&] { prepareEnvironment(pluginFolder); };
  return libraries().open(candidates, "libnixl_capi.so", prepare, resolved, why);
}

std::string probeLibrary(const std::vector<std::string>& candidates, const std::string& pluginFolder) {
  std::string why;
  const Library* library = openLibrary(candidates, pluginFolder, &why);
  if (library == nullptr) return "{\"present\":false,\"reason\":" + quoted(why) + "}";
  const Capi& capi = library->capi;
  std::string names;
  const CapiAgentConfig config{false, false, 0, kSyncStrict, 1, 0, 100'000, false};
  CapiAgent agent = nullptr;
  if (capi.create_configured_agent("dynamo-probe", &config, &agent) != kCapiSuccess) {
    return "{\"present\":false,\"reason\":" + quoted(library->path + " makes no agent; see its log") + "}";
  }
  CapiStrings plugins = nullptr;
  if (capi.get_available_plugins(agent, &plugins) == kCapiSuccess) {
    size_t size = 0;
    capi.string_list_size(plugins, &size);
    for (size_t i = 0; i < size; i++) {
      const char* name = nullptr;
      if (capi.string_list_get(plugins, i, &name) == kCapiSuccess && name != nullptr) {
        names += (names.empty() ? "" : ",") + quoted(name);
      }
    }
    capi.destroy_string_list(plugins);
  }
  capi.destroy_agent(agent);
  return "{\"present\":true,\"path\":" + quoted(library->path) + ",\"plugins\":[" + names + "]}";
}

}  // namespace dynamo::nixl
