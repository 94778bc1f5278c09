// A libucp of one process, opened as the real one is: workers are peers, and what one starts has an effect
// when the other one is progressed, as writes have that UCX emulates by messages.

#include "ucp.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../../../main/c++/backend/ucx/capi.h"

using namespace dynamo::ucx;

namespace {

constexpr UcpStatus kUnreachable = -6;
constexpr UcpStatus kInvalidAddress = -7;
constexpr UcpStatus kReset = -25;
constexpr UcpStatus kCanceled = -16;

struct Request {
  UcpCallback callback;
  void* userData;
  UcpEndpoint endpoint;
  bool isFlush;
};

/// What another worker has sent.
struct Message {
  Request* request;
  uint64_t from;  // the worker that waits
  bool isPut;
  void* local;
  size_t length;
  uint64_t remote;
  uint64_t memory;
};

struct Done {
  Request* request;
  UcpStatus status;
};

}  // namespace

namespace dynamo::ucx {

struct UcpContextS {
  std::string transports;
  bool hasCache;
};
struct UcpConfigS {
  std::string transports = "all";
  bool hasCache = true;
};
struct UcpWorkerS {
  uint64_t id;
  std::string transports;
  int descriptor;
  std::deque<Message> inbox;
  std::deque<Done> done;
  std::deque<UcpEndpoint> broken;
  std::set<UcpEndpoint> endpoints;
};
struct UcpEndpointS {
  UcpWorker worker;
  uint64_t peer;
  UcpErrorCallback onError;
  void* argument;
  std::vector<Request*> running;
};
struct UcpMemoryS {
  uint64_t id;
  char* base;
  size_t length;
};
struct UcpKeyS {
  uint64_t memory;
};

}  // namespace dynamo::ucx

namespace {

std::recursive_mutex lock;
std::condition_variable_any changed;  // the fault
std::map<uint64_t, UcpWorker> workers;
std::map<uint64_t, UcpMemory> memories;
uint64_t nextId = 1;
int fault = kUcpSound;
long hanging = 0;  // threads in a call that does not return
long live = 0;     // contexts, workers, endpoints, keys, memory

using Guard = std::lock_guard<std::recursive_mutex>;

void ring(UcpWorker worker) {
  const uint64_t one = 1;
  if (write(worker->descriptor, &one, sizeof one) < 0) return;
}

void finish(uint64_t id, Request* request, UcpStatus status) {
  auto at = workers.find(id);
  if (at == workers.end()) return;
  at->second->done.push_back({request, status});
  ring(at->second);
}

/// Fails all that runs on an endpoint; its owner hears of it when it is progressed.
void breakDown(UcpEndpoint endpoint, UcpStatus status) {
  for (Request* request : endpoint->running) finish(endpoint->worker->id, request, status);
  endpoint->running.clear();
  for (auto& [id, worker] : workers) {
    auto ofEndpoint = [&](const Message& one) { return one.request->endpoint == endpoint; };
    worker->inbox.erase(std::remove_if(worker->inbox.begin(), worker->inbox.end(), ofEndpoint),
                        worker->inbox.end());
  }
}

void lose(UcpEndpoint endpoint) {
  breakDown(endpoint, kReset);
  endpoint->worker->broken.push_back(endpoint);
  ring(endpoint->worker);
}

void settleFlush(UcpEndpoint endpoint) {
  bool isQuiet = std::all_of(endpoint->running.begin(), endpoint->running.end(),
                             [](Request* request) { return request->isFlush; });
  if (!isQuiet) return;
  for (Request* request : endpoint->running) finish(endpoint->worker->id, request, kUcpOk);
  endpoint->running.clear();
}

bool isTcp(UcpWorker worker) { return worker->transports.find("tcp") != std::string::npos; }

bool isStopped(const Message& message) {
  return fault == kUcpStandsStill || (fault == kUcpStopsPuts && message.isPut);
}

auto firstToDeliver(UcpWorker worker) {
  return std::find_if_not(worker->inbox.begin(), worker->inbox.end(), isStopped);
}

/// Puts that are emulated by messages go to any address, as with the real library.
void deliver(UcpWorker owner, const Message& message) {
  UcpEndpoint endpoint = message.request->endpoint;
  auto target = memories.find(message.memory);
  bool isWithin = target != memories.end() &&
                  message.remote >= reinterpret_cast<uint64_t>(target->second->base) &&
                  message.remote + message.length <=
                      reinterpret_cast<uint64_t>(target->second->base) + target->second->length;
  if (!isWithin && !(message.isPut && isTcp(owner))) {
    lose(endpoint);
    return;
  }
  void* there = reinterpret_cast<void*>(message.remote);
  if (message.isPut) {
    std::memcpy(there, message.local, message.length);
  } else {
    std::memcpy(message.local, there, message.length);
    if (fault == kUcpCorruptsReads) static_cast<char*>(message.local)[0] ^= 1;
  }
  auto& running = endpoint->running;
  running.erase(std::find(running.begin(), running.end(), message.request));
  finish(message.from, message.request, kUcpOk);
  settleFlush(endpoint);
}

UcpRequest start(UcpEndpoint endpoint, bool isPut, void* local, size_t length, uint64_t remote, UcpKey key,
                 const UcpRequestParams* params) {
  Guard guard(lock);
  if (isPut && fault == kUcpFailsPuts) return reinterpret_cast<UcpRequest>(intptr_t{-3});
  auto peer = workers.find(endpoint->peer);
  if (peer == workers.end()) return reinterpret_cast<UcpRequest>(intptr_t{kReset});
  auto* request = new Request{params->callback, params->userData, endpoint, false};
  endpoint->running.push_back(request);
  if (isPut && fault == kUcpLosesPeers) {
    lose(endpoint);
    return request;
  }
  peer->second->inbox.push_back({request, endpoint->worker->id, isPut, local, length, remote, key->memory});
  ring(peer->second);
  return request;
}

}  // namespace

extern "C" {

void fake_ucp_set(int what) {
  Guard guard(lock);
  fault = what;
  changed.notify_all();
  for (auto& [id, worker] : workers) ring(worker);
}

long fake_ucp_live() {
  Guard guard(lock);
  return live;
}

/// Puts that nobody has progressed.
long fake_ucp_waiting() {
  Guard guard(lock);
  long all = 0;
  for (auto& [id, worker] : workers) {
    for (const Message& message : worker->inbox) all += message.isPut ? 1 : 0;
  }
  return all;
}

/// Threads in a call that does not return.
long fake_ucp_hanging() {
  Guard guard(lock);
  return hanging;
}

void ucp_get_version(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 1;
#ifdef FAKE_OLD
  *minor = 12;
#else
  *minor = 20;
#endif
  *release = 0;
}

UcpStatus ucp_config_read(const char*, const char*, UcpConfig* config) {
  *config = new UcpConfigS;
  return kUcpOk;
}

UcpStatus ucp_config_modify(UcpConfig config, const char* name, const char* value) {
  if (std::string(name) == "RCACHE_ENABLE") {
    config->hasCache = std::string(value) != "n";
  } else if (std::string(name) == "TLS") {
    config->transports = value;
  } else {
    return kInvalidAddress;
  }
  return kUcpOk;
}

void ucp_config_release(UcpConfig config) { delete config; }

UcpStatus ucp_init_version(unsigned, unsigned, const UcpParams* params, const UcpConfig config,
                           UcpContext* context) {
  Guard guard(lock);
  uint64_t wanted = UcpParams::kRemoteMemory | UcpParams::kWakeUp;
  if (config->transports == "none") return kUcpNoDevice;
  if (params->features != wanted) return kInvalidAddress;
  *context = new UcpContextS{config->transports, config->hasCache};
  live++;
  return kUcpOk;
}

void ucp_cleanup(UcpContext context) {
  Guard guard(lock);
  delete context;
  live--;
}

UcpStatus ucp_worker_create(UcpContext context, const UcpWorkerParams*, UcpWorker* worker) {
  Guard guard(lock);
  auto* made =
      new UcpWorkerS{nextId++, context->transports, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), {}, {}, {}, {}};
  workers[made->id] = made;
  *worker = made;
  live++;
  return kUcpOk;
}

void ucp_worker_destroy(UcpWorker worker) {
  Guard guard(lock);
  workers.erase(worker->id);
  for (auto& [id, other] : workers) {
    for (UcpEndpoint endpoint : other->endpoints) {
      if (endpoint->peer == worker->id) lose(endpoint);
    }
  }
  close(worker->descriptor);
  delete worker;
  live--;
}

unsigned ucp_worker_progress(UcpWorker worker) {
  std::unique_lock<std::recursive_mutex> guard(lock);
  hanging++;
  changed.wait(guard, [] { return fault != kUcpHangs; });
  hanging--;
  unsigned steps = 0;
  uint64_t rung = 0;
  if (read(worker->descriptor, &rung, sizeof rung) < 0) rung = 0;
  for (auto at = firstToDeliver(worker); at != worker->inbox.end(); at = firstToDeliver(worker)) {
    Message message = *at;
    worker->inbox.erase(at);
    deliver(worker, message);
    steps++;
  }
  while (!worker->done.empty()) {
    Done done = worker->done.front();
    worker->done.pop_front();
    done.request->callback(done.request, done.status, done.request->userData);
    steps++;
  }
  while (!worker->broken.empty()) {
    UcpEndpoint endpoint = worker->broken.front();
    worker->broken.pop_front();
    endpoint->onError(endpoint->argument, endpoint, kReset);
    steps++;
  }
  return steps;
}

UcpStatus ucp_worker_get_efd(UcpWorker worker, int* descriptor) {
  *descriptor = worker->descriptor;
  return kUcpOk;
}

UcpStatus ucp_worker_arm(UcpWorker worker) {
  Guard guard(lock);
  bool isQuiet = firstToDeliver(worker) == worker->inbox.end() && worker->done.empty();
  return isQuiet ? kUcpOk : kUcpBusy;
}

UcpStatus ucp_worker_get_address(UcpWorker worker, UcpAddress* address, size_t* size) {
  *address = reinterpret_cast<UcpAddress>(new uint64_t(worker->id));
  *size = sizeof(uint64_t);
  return kUcpOk;
}

void ucp_worker_release_address(UcpWorker, UcpAddress address) {
  delete reinterpret_cast<uint64_t*>(address);
}

UcpStatus ucp_ep_create(UcpWorker worker, const UcpEndpointParams* params, UcpEndpoint* endpoint) {
  Guard guard(lock);
  uint64_t peer = 0;
  std::memcpy(&peer, params->address, sizeof peer);
  if (fault == kUcpRefusesEndpoints || workers.count(peer) == 0) return kUnreachable;
  if (params->errorMode != UcpEndpointParams::kPeerErrors) return kInvalidAddress;
  *endpoint = new UcpEndpointS{worker, peer, params->onError, params->onErrorArgument, {}};
  worker->endpoints.insert(*endpoint);
  live++;
  return kUcpOk;
}

UcpStatus ucp_ep_query(UcpEndpoint endpoint, UcpEndpointFacts* facts) {
  if (facts->mask != UcpEndpointFacts::kTransports || facts->transportCount < 1) return kInvalidAddress;
  facts->transports[0] = {isTcp(endpoint->worker) ? "tcp" : "rc_mlx5", "fake0"};
  facts->transportCount = 1;
  return kUcpOk;
}

UcpRequest ucp_ep_flush_nbx(UcpEndpoint endpoint, const UcpRequestParams* params) {
  Guard guard(lock);
  if (endpoint->running.empty()) return nullptr;
  auto* request = new Request{params->callback, params->userData, endpoint, true};
  endpoint->running.push_back(request);
  return request;
}

UcpRequest ucp_ep_close_nbx(UcpEndpoint endpoint, const UcpRequestParams* params) {
  Guard guard(lock);
  bool isForced =
      (params->mask & UcpRequestParams::kHasFlags) != 0 && params->flags == UcpRequestParams::kForce;
  if (!isForced) return reinterpret_cast<UcpRequest>(intptr_t{kInvalidAddress});
  breakDown(endpoint, kCanceled);
  endpoint->worker->endpoints.erase(endpoint);
  auto& broken = endpoint->worker->broken;
  broken.erase(std::remove(broken.begin(), broken.end(), endpoint), broken.end());
  delete endpoint;
  live--;
  return nullptr;
}

UcpStatus ucp_mem_map(UcpContext, const UcpMemoryParams* params, UcpMemory* memory) {
  Guard guard(lock);
  if (fault == kUcpRegistersNothing) return kUcpNoMemory;
  auto* made = new UcpMemoryS{nextId++, static_cast<char*>(params->address), params->length};
  memories[made->id] = made;
  *memory = made;
  live++;
  return kUcpOk;
}

UcpStatus ucp_mem_unmap(UcpContext context, UcpMemory memory) {
  Guard guard(lock);
  if (context->hasCache) return kUcpOk;  // which keeps it registered, and its key valid
  memories.erase(memory->id);
  delete memory;
  live--;
  return kUcpOk;
}

UcpStatus ucp_rkey_pack(UcpContext, UcpMemory memory, void** key, size_t* size) {
  *key = new uint64_t(memory->id);
  *size = sizeof(uint64_t);
  return kUcpOk;
}

void ucp_rkey_buffer_release(void* key) { delete static_cast<uint64_t*>(key); }

UcpStatus ucp_ep_rkey_unpack(UcpEndpoint, const void* packed, UcpKey* key) {
  Guard guard(lock);
  uint64_t memory = 0;
  std::memcpy(&memory, packed, sizeof memory);
  *key = new UcpKeyS{memory};
  live++;
  return kUcpOk;
}

void ucp_rkey_destroy(UcpKey key) {
  Guard guard(lock);
  delete key;
  live--;
}

#ifndef FAKE_WITHOUT_PUT
UcpRequest ucp_put_nbx(UcpEndpoint endpoint, const void* local, size_t length, uint64_t remote, UcpKey key,
                       const UcpRequestParams* params) {
  return start(endpoint, true, const_cast<void*>(local), length, remote, key, params);
}
#endif

UcpRequest ucp_get_nbx(UcpEndpoint endpoint, void* local, size_t length, uint64_t remote, UcpKey key,
                       const UcpRequestParams* params) {
  return start(endpoint, false, local, length, remote, key, params);
}

UcpStatus ucp_request_check_status(void*) { return kUcpOk; }

void ucp_request_free(void* request) { delete static_cast<Request*>(request); }

}  // extern "C"
