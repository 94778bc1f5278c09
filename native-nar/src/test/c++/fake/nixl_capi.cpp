// A libnixl_capi.so whose agents live in one process, for tests: bytes are moved by memcpy, and parameters of
// the backend decide what goes wrong.
//
//   create=S       the backend is refused with status S       register=S, deregister=S, metadata=S, load=S,
//   request=S      and post=S: that call answers S; post=1 (the default) leaves the transfer under way
//   polls=N        polls before a transfer ends (0)           end=S   how it ends (0)
//   lost=1 or 2    when it ends badly the peer is dropped, or is sent nothing any more     releases=N
//   refusals to release (0) hang=MS        post takes so long                         mems=01..   kinds of
//   memory that it moves (01)
//   keys=1         each registration has a key of its own, as with RDMA
//
// FAKE_STUB makes a stub, FAKE_WITHOUT_POST a library without one function.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kInProgress = 1;
constexpr int kInvalid = -1;
constexpr int kBackendFailed = -2;
constexpr int kInvalidState = -3;
constexpr int kNotFound = -6;

struct Desc {
  uintptr_t address;
  size_t length;
  uint64_t device;
};

using Parameters = std::map<std::string, std::string>;
using Notifications = std::map<std::string, std::vector<std::string>>;

struct Params {
  Parameters values;
};
struct MemList {
  std::vector<int> kinds;
};
struct Strings {
  std::vector<std::string> values;
};
struct Backend {
  std::string name;
  Parameters parameters;
};
struct Options {
  std::vector<Backend*> backends;
  bool hasNotification = false;
  std::string notification;
};
struct List {
  int kind;
  std::vector<Desc> descs;
};
struct Registered {
  int kind;
  Desc desc;
  std::string key;
};
struct Agent {
  std::string name;
  Parameters parameters;  // of its backend
  std::list<Registered> registered;
  std::map<std::string, std::string> peers;  // by name, the address
  std::string address;
  Notifications notifications;
};
struct Request {
  Agent* agent;
  int op;
  List local;
  List remote;
  std::string peer;
  std::string notification;
  int status = 0;
  int polls = 0;
  int releases = 0;
  bool isReleased = false;
};
struct NotifMap {
  Notifications all;
};

std::mutex mutex;
int made = 0;   // agents and keys
int loads = 0;  // of metadata
int invalidations = 0;
[[maybe_unused]] std::atomic<int> hanging{0};
std::map<std::string, Agent*>& agents() {
  static auto& all = *new std::map<std::string, Agent*>;
  return all;
}

int number(const Parameters& from, const char* key, int standard) {
  auto at = from.find(key);
  return at == from.end() ? standard : std::atoi(at->second.c_str());
}

void record(std::string* into, const std::string& tag, const std::string& value) {
  uint64_t length = value.size();
  *into += tag;
  into->append(reinterpret_cast<const char*>(&length), sizeof length);
  *into += value + "|";
}

std::string counted(uint64_t count) {
  return std::string(reinterpret_cast<const char*>(&count), sizeof count);
}

bool covers(const Agent& agent, int kind, const Desc& wanted) {
  for (const auto& [of, desc, key] : agent.registered) {
    if (of == kind && desc.device == wanted.device && wanted.address >= desc.address &&
        wanted.address + wanted.length <= desc.address + desc.length) {
      return true;
    }
  }
  return false;
}

int finish(Request& request) {
  int end = number(request.agent->parameters, "end", kSuccess);
  auto peer = agents().find(request.peer);
  if (end == kSuccess && peer == agents().end()) end = kBackendFailed;
  if (end != kSuccess) {
    if (number(request.agent->parameters, "lost", 0) == 1) request.agent->peers.erase(request.peer);
    return end;
  }
  for (size_t i = 0; i < request.local.descs.size(); i++) {
    void* here = reinterpret_cast<void*>(request.local.descs[i].address);
    void* there = reinterpret_cast<void*>(request.remote.descs[i].address);
    std::memcpy(request.op == 1 ? there : here, request.op == 1 ? here : there,
                request.local.descs[i].length);
  }
  if (!request.notification.empty()) {
    peer->second->notifications[request.agent->name].push_back(request.notification);
  }
  return kSuccess;
}

}  // namespace

#define API extern "C" __attribute__((visibility("default")))
#define LOCKED std::lock_guard<std::mutex> lock(mutex)

#ifdef FAKE_STUB
API bool nixl_capi_is_stub() { return true; }
#else
API bool nixl_capi_is_stub() { return false; }
#endif

API int nixl_capi_create_configured_agent(const char* name, const void* config, Agent** agent) {
  LOCKED;
  if (name == nullptr || config == nullptr || std::strcmp(name, "refused") == 0) return kBackendFailed;
  *agent = new Agent{name, {}, {}, {}, "address " + std::to_string(++made), {}};
  agents()[name] = *agent;
  return kSuccess;
}

API int nixl_capi_destroy_agent(Agent* agent) {
  LOCKED;
  auto at = agents().find(agent->name);
  if (at != agents().end() && at->second == agent) agents().erase(at);
  delete agent;
  return kSuccess;
}

API int nixl_capi_get_local_md(Agent* agent, void** data, size_t* length) {
  LOCKED;
  int status = number(agent->parameters, "metadata", kSuccess);
  if (status != kSuccess) return status;
  std::string blob = "nixlSerDes|";
  record(&blob, "Agent", agent->name);
  record(&blob, "Conns", counted(1));
  record(&blob, "t", "UCX");
  record(&blob, "c", agent->address);
  record(&blob, "", "MemSection");
  record(&blob, "nixlSecElms", counted(agent->registered.empty() ? 0 : 1));
  if (!agent->registered.empty()) {  // all of one kind, as the tests register it
    int kind = agent->registered.front().kind;
    record(&blob, "bknd", "UCX");
    record(&blob, "nixlDList", "nixlSDList");
    record(&blob, "t", std::string(reinterpret_cast<const char*>(&kind), sizeof kind));
    record(&blob, "n", counted(agent->registered.size()));
    for (const Registered& one : agent->registered) {
      record(&blob, "", std::string(reinterpret_cast<const char*>(&one.desc), sizeof one.desc) + one.key);
    }
  }
  *data = std::malloc(blob.size());
  std::memcpy(*data, blob.data(), blob.size());
  *length = blob.size();
  return kSuccess;
}

API int nixl_capi_load_remote_md(Agent* agent, const void* data, size_t length, char** name) {
  LOCKED;
  int status = number(agent->parameters, "load", kSuccess);
  if (status != kSuccess) return status;
  std::string blob(static_cast<const char*>(data), length);
  const std::string start = "nixlSerDes|Agent";
  uint64_t size = 0;
  if (blob.compare(0, start.size(), start) != 0 || blob.size() < start.size() + sizeof size) return kInvalid;
  std::memcpy(&size, blob.data() + start.size(), sizeof size);
  std::string peer = blob.substr(start.size() + sizeof size, size);
  if (agents().count(peer) == 0) return kBackendFailed;
  const std::string& address = agents()[peer]->address;
  auto known = agent->peers.emplace(peer, address).first;
  if (known->second != address) return kBackendFailed;
  loads++;
  *name = strdup(peer.c_str());
  return kSuccess;
}

API int nixl_capi_invalidate_remote_md(Agent* agent, const char* peer) {
  LOCKED;
  invalidations++;
  return agent->peers.erase(peer) == 1 ? kSuccess : kNotFound;
}

API int nixl_capi_check_remote_md(Agent* agent, const char* peer, List*) {
  LOCKED;
  return agent->peers.count(peer) == 1 ? kSuccess : kNotFound;
}

API int nixl_capi_get_available_plugins(Agent*, Strings** plugins) {
  *plugins = new Strings{{"FAKE", "UCX"}};
  return kSuccess;
}
API int nixl_capi_string_list_size(Strings* list, size_t* size) {
  *size = list->values.size();
  return kSuccess;
}
API int nixl_capi_string_list_get(Strings* list, size_t at, const char** value) {
  *value = list->values.at(at).c_str();
  return kSuccess;
}
API int nixl_capi_destroy_string_list(Strings* list) {
  delete list;
  return kSuccess;
}

API int nixl_capi_create_params(Params** params) {
  *params = new Params;
  return kSuccess;
}
API int nixl_capi_params_add(Params* params, const char* key, const char* value) {
  params->values[key] = value;
  return kSuccess;
}
API int nixl_capi_destroy_params(Params* params) {
  delete params;
  return kSuccess;
}

API int nixl_capi_create_backend(Agent* agent, const char* name, Params* params, Backend** backend) {
  LOCKED;
  int status = number(params->values, "create", kSuccess);
  if (status != kSuccess) return status;
  *backend = new Backend{name, params->values};
  if (agent->parameters.empty()) agent->parameters = params->values;
  return kSuccess;
}
API int nixl_capi_destroy_backend(Backend* backend) {
  delete backend;
  return kSuccess;
}
API int nixl_capi_get_backend_params(Agent*, Backend* backend, MemList** mems, Params** params) {
  auto at = backend->parameters.find("mems");
  *mems = new MemList;
  for (char kind : at == backend->parameters.end() ? std::string("01") : at->second) {
    (*mems)->kinds.push_back(kind - '0');
  }
  *params = new Params{backend->parameters};
  return kSuccess;
}
API int nixl_capi_mem_list_size(MemList* list, size_t* size) {
  *size = list->kinds.size();
  return kSuccess;
}
API int nixl_capi_mem_list_get(MemList* list, size_t at, int* kind) {
  *kind = list->kinds.at(at);
  return kSuccess;
}
API int nixl_capi_destroy_mem_list(MemList* list) {
  delete list;
  return kSuccess;
}

API int nixl_capi_create_opt_args(Options** options) {
  *options = new Options;
  return kSuccess;
}
API int nixl_capi_destroy_opt_args(Options* options) {
  delete options;
  return kSuccess;
}
API int nixl_capi_opt_args_add_backend(Options* options, Backend* backend) {
  options->backends.push_back(backend);
  return kSuccess;
}
API int nixl_capi_opt_args_set_has_notif(Options* options, bool has) {
  options->hasNotification = has;
  return kSuccess;
}
API int nixl_capi_opt_args_set_notif_msg(Options* options, const void* data, size_t length) {
  if (options->hasNotification) options->notification.assign(static_cast<const char*>(data), length);
  return kSuccess;
}

API int nixl_capi_create_reg_dlist(int kind, List** list) {
  *list = new List{kind, {}};
  return kSuccess;
}
API int nixl_capi_reg_dlist_add_desc(List* list, uintptr_t address, size_t length, uint64_t device,
                                     const void*, size_t) {
  list->descs.push_back({address, length, device});
  return kSuccess;
}
API int nixl_capi_destroy_reg_dlist(List* list) {
  delete list;
  return kSuccess;
}
API int nixl_capi_register_mem(Agent* agent, List* list, Options* options) {
  LOCKED;
  int status = number(agent->parameters, "register", kSuccess);
  if (status != kSuccess || options == nullptr || options->backends.empty()) {
    return status == kSuccess ? kBackendFailed : status;
  }
  for (const Desc& desc : list->descs) {
    bool isOwn = number(agent->parameters, "keys", 0) == 1;
    agent->registered.push_back({list->kind, desc, isOwn ? "key " + std::to_string(++made) : "key"});
  }
  return kSuccess;
}
API int nixl_capi_deregister_mem(Agent* agent, List* list, Options*) {
  LOCKED;
  for (const Desc& desc : list->descs) {
    for (auto at = agent->registered.begin(); at != agent->registered.end(); ++at) {
      if (at->kind == list->kind && at->desc.address == desc.address && at->desc.length == desc.length) {
        agent->registered.erase(at);
        break;
      }
    }
  }
  return number(agent->parameters, "deregister", kSuccess);
}

API int nixl_capi_create_xfer_dlist(int kind, List** list) { return nixl_capi_create_reg_dlist(kind, list); }
API int nixl_capi_xfer_dlist_add_desc(List* list, uintptr_t address, size_t length, uint64_t device) {
  return nixl_capi_reg_dlist_add_desc(list, address, length, device, nullptr, 0);
}
API int nixl_capi_destroy_xfer_dlist(List* list) { return nixl_capi_destroy_reg_dlist(list); }

API int nixl_capi_create_xfer_req(Agent* agent, int op, List* local, List* remote, const char* peer,
                                  Request** request, Options* options) {
  LOCKED;
  int status = number(agent->parameters, "request", kSuccess);
  if (status != kSuccess) return status;
  auto at = agents().find(peer);
  if (at == agents().end() || agent->peers.count(peer) == 0) return kNotFound;
  for (const Desc& desc : local->descs) {
    if (!covers(*agent, local->kind, desc)) return kBackendFailed;
  }
  for (const Desc& desc : remote->descs) {
    if (!covers(*at->second, remote->kind, desc)) return kBackendFailed;
  }
  *request = new Request{agent, op, *local, *remote, peer, options->notification};
  (*request)->polls = number(agent->parameters, "polls", 0);
  (*request)->releases = number(agent->parameters, "releases", 0);
  return kSuccess;
}

/// How often metadata was loaded, and dropped.
API void fake_nixl_counts(int* loaded, int* dropped) {
  LOCKED;
  *loaded = loads;
  *dropped = invalidations;
}

#ifndef FAKE_WITHOUT_POST
/// How many calls are in post now.
API int fake_nixl_hanging() { return hanging; }

API int nixl_capi_post_xfer_req(Agent* agent, Request* request, Options*) {
  int hang = number(agent->parameters, "hang", 0);
  hanging++;
  if (hang > 0) std::this_thread::sleep_for(std::chrono::milliseconds(hang));
  hanging--;
  LOCKED;
  int status = number(agent->parameters, "post", kInProgress);
  request->status = status == kSuccess ? finish(*request) : status;
  return request->status;
}
#endif

API int nixl_capi_get_xfer_status(Agent*, Request* request) {
  LOCKED;
  if (request->status == kInProgress && request->polls-- <= 0) request->status = finish(*request);
  return request->status;
}
API int nixl_capi_release_xfer_req(Agent*, Request* request) {
  LOCKED;
  if (request->releases-- > 0) return kBackendFailed;
  request->isReleased = true;
  return kSuccess;
}
API int nixl_capi_destroy_xfer_req(Request* request) {
  if (!request->isReleased) return kInvalidState;
  delete request;
  return kSuccess;
}

API int nixl_capi_gen_notif(Agent* agent, const char* peer, const void* data, size_t length, Options*) {
  LOCKED;
  auto at = agents().find(peer);
  if (at == agents().end() || number(agent->parameters, "lost", 0) == 2) return kBackendFailed;
  at->second->notifications[agent->name].emplace_back(static_cast<const char*>(data), length);
  return kSuccess;
}

API int nixl_capi_create_notif_map(NotifMap** map) {
  *map = new NotifMap;
  return kSuccess;
}
API int nixl_capi_get_notifs(Agent* agent, NotifMap* map, Options*) {
  LOCKED;
  map->all.swap(agent->notifications);
  return kSuccess;
}
API int nixl_capi_notif_map_size(NotifMap* map, size_t* size) {
  *size = map->all.size();
  return kSuccess;
}
API int nixl_capi_notif_map_get_agent_at(NotifMap* map, size_t at, const char** agent) {
  *agent = std::next(map->all.begin(), static_cast<std::ptrdiff_t>(at))->first.c_str();
  return kSuccess;
}
API int nixl_capi_notif_map_get_notifs_size(NotifMap* map, const char* agent, size_t* size) {
  *size = map->all.at(agent).size();
  return kSuccess;
}
API int nixl_capi_notif_map_get_notif(NotifMap* map, const char* agent, size_t at, const void** data,
                                      size_t* length) {
  const std::string& text = map->all.at(agent).at(at);
  *data = text.data();
  *length = text.size();
  return kSuccess;
}
API int nixl_capi_destroy_notif_map(NotifMap* map) {
  delete map;
  return kSuccess;
}
