#include "session.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace dynamo::nixl {
namespace {

constexpr size_t kLongestKey = 256;

/// Destroys what the library made at the end of a scope.
template <typename Handle>
class Scoped {
 public:
  Scoped(Handle handle, int (*destroy)(Handle)) : handle_(handle), destroy_(destroy) {}
  ~Scoped() {
    if (handle_ != nullptr) destroy_(handle_);
  }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;
  Handle get() const { return handle_; }
  Handle take() { return std::exchange(handle_, nullptr); }

 private:
  Handle handle_;
  int (*destroy_)(Handle);
};

bool overflows(uint64_t address, uint64_t length) { return length > ~uint64_t{0} - address; }

}  // namespace

bool Session::open(const AgentPlan& plan, std::string* report) {
  // Every call comes from one thread; the library's own progress thread is what needs the lock.
  const CapiAgentConfig config{true, false, 0, kSyncStrict, 1, 0, 100'000, false};
  int made = capi_.create_configured_agent(plan.name.c_str(), &config, &agent_);
  if (made != kCapiSuccess) {
    agent_ = nullptr;
    *report = "NIXL makes no agent (" + std::to_string(made) + "); see its log";
    return false;
  }
  for (const AgentPlan::Backend& wanted : plan.backends) {
    auto absent = [&](const std::string& why) { *report += wanted.name + " is absent: " + why + "\n"; };
    CapiParams made_params = nullptr;
    if (capi_.create_params(&made_params) != kCapiSuccess) return false;
    Scoped<CapiParams> parameters(made_params, capi_.destroy_params);
    for (const auto& [key, value] : wanted.parameters) {
      capi_.params_add(parameters.get(), key.c_str(), value.c_str());
    }
    Backend backend{wanted.name, nullptr, {}};
    int status = capi_.create_backend(agent_, wanted.name.c_str(), parameters.get(), &backend.handle);
    if (status != kCapiSuccess) {
      absent("NIXL refuses it (" + std::to_string(status) + "); see its log for the plug-in's reason");
      continue;
    }
    CapiMemList mems = nullptr;
    CapiParams effective = nullptr;
    if (capi_.get_backend_params(agent_, backend.handle, &mems, &effective) == kCapiSuccess) {
      Scoped<CapiMemList> scopedMems(mems, capi_.destroy_mem_list);
      Scoped<CapiParams> scopedParams(effective, capi_.destroy_params);
      size_t size = 0;
      capi_.mem_list_size(mems, &size);
      for (size_t i = 0; i < size; i++) {
        int kind = -1;
        if (capi_.mem_list_get(mems, i, &kind) == kCapiSuccess && kind >= 0 && kind < kMemoryKinds) {
          backend.moves[kind] = true;
        }
      }
    }
    backends_.push_back(backend);
  }
  return !backends_.empty();
}

void Session::execute(Command&& command) {
  uint64_t ticket = command.ticket;
  if (auto* wanted = std::get_if<Register>(&command.what)) {
    registerMemory(ticket, *wanted);
  } else if (auto* ended = std::get_if<Deregister>(&command.what)) {
    deregister(ticket, ended->registration);
  } else if (auto* watched = std::get_if<Watch>(&command.what)) {
    watch(ticket, std::move(*watched));
  } else if (auto* order = std::get_if<TransferOrder>(&command.what)) {
    begin(ticket, std::move(*order));
  } else {
    describe(ticket);
  }
}

/// Hints the backends that move both kinds, or the first of them alone: without a hint the library takes any.
CapiOptions Session::optionsFor(int kind, int otherKind, bool first) const {
  CapiOptions options = nullptr;
  bool found = false;
  for (const Backend& backend : backends_) {
    if (!backend.moves[kind] || !backend.moves[otherKind] || (first && found)) continue;
    if (options == nullptr && capi_.create_opt_args(&options) != kCapiSuccess) return nullptr;
    capi_.opt_args_add_backend(options, backend.handle);
    found = true;
  }
  return options;
}

void Session::registerMemory(uint64_t ticket, const Register& what) {
  if (what.kind < 0 || what.kind >= kMemoryKinds || what.range.address == 0 || what.range.length == 0 ||
      overflows(what.range.address, what.range.length)) {
    return fail(ticket, Status::kInvalid, 0, "no memory has this address and length");
  }
  Scoped<CapiOptions> options(optionsFor(what.kind, what.kind, false), capi_.destroy_opt_args);
  if (options.get() == nullptr) {
    return fail(ticket, Status::kInvalid, 0, "no backend of the agent moves this kind of memory");
  }
  CapiRegList made = nullptr;
  if (capi_.create_reg_dlist(what.kind, &made) != kCapiSuccess) {
    return fail(ticket, Status::kNoMemory, 0, "");
  }
  Scoped<CapiRegList> list(made, capi_.destroy_reg_dlist);
  int status = capi_.reg_dlist_add_desc(list.get(), what.range.address, what.range.length, what.range.device,
                                        nullptr, 0);
  if (status == kCapiSuccess) status = capi_.register_mem(agent_, list.get(), options.get());
  if (status != kCapiSuccess) {
    return fail(ticket, Status::kBackend, status, "NIXL does not register the memory");
  }
  uint64_t id = nextRegistration_++;
  registrations_.emplace(id, Registration{what.kind, what.range, list.take(), 0, std::nullopt});
  end({ticket, Status::kOk, 0, id, ""});
}

void Session::deregister(uint64_t ticket, uint64_t id) {
  auto at = registrations_.find(id);
  if (at == registrations_.end() || at->second.deregistering) {
    return fail(ticket, Status::kStale, 0, "the memory is not registered");
  }
  at->second.deregistering = ticket;
  if (at->second.uses == 0) endRegistration(at);
}

void Session::endRegistration(std::map<uint64_t, Registration>::iterator at) {
  Registration ending = at->second;
  registrations_.erase(at);
  Scoped<CapiOptions> options(optionsFor(ending.kind, ending.kind, false), capi_.destroy_opt_args);
  int status = capi_.deregister_mem(agent_, ending.list, options.get());
  capi_.destroy_reg_dlist(ending.list);
  if (!ending.deregistering) return;
  if (status == kCapiSuccess) {
    end({*ending.deregistering, Status::kOk, 0, 0, ""});
  } else {
    fail(*ending.deregistering, Status::kBackend, status, "NIXL does not deregister the memory");
  }
}

void Session::describe(uint64_t ticket) {
  void* data = nullptr;
  size_t length = 0;
  int status = capi_.get_local_md(agent_, &data, &length);
  if (status != kCapiSuccess) {
    return fail(ticket, Status::kBackend, status, "NIXL does not describe the agent");
  }
  std::string blob(static_cast<const char*>(data), length);
  std::free(data);
  end({ticket, Status::kOk, 0, 0, std::move(blob)});
}

void Session::watch(uint64_t ticket, Watch&& what) {
  if (what.key.empty() || what.key.size() > kLongestKey) {
    return fail(ticket, Status::kInvalid, 0, "a key has 1 to 256 bytes");
  }
  if (!watches_.emplace(std::move(what.key), std::make_pair(ticket, what.deadlineNanos)).second) {
    return fail(ticket, Status::kInvalid, 0, "the key is watched already");
  }
  listener_.reached(ticket, Phase::kPosted);
}

void Session::pollNotifications() {
  CapiNotifMap made = nullptr;
  if (capi_.create_notif_map(&made) != kCapiSuccess) return;
  Scoped<CapiNotifMap> map(made, capi_.destroy_notif_map);
  size_t agents = 0;
  if (capi_.get_notifs(agent_, made, nullptr) != kCapiSuccess ||
      capi_.notif_map_size(made, &agents) != kCapiSuccess) {
    return;
  }
  for (size_t i = 0; i < agents; i++) {
    const char* agent = nullptr;
    size_t count = 0;
    if (capi_.notif_map_get_agent_at(made, i, &agent) != kCapiSuccess ||
        capi_.notif_map_get_notifs_size(made, agent, &count) != kCapiSuccess) {
      continue;
    }
    for (size_t j = 0; j < count; j++) {
      const void* data = nullptr;
      size_t length = 0;
      if (capi_.notif_map_get_notif(made, agent, j, &data, &length) != kCapiSuccess || length > kLongestKey) {
        continue;
      }
      // One that nobody waits for, or any more, is dropped here.
      auto at = watches_.find(std::string(static_cast<const char*>(data), length));
      if (at == watches_.end()) continue;
      uint64_t ticket = at->second.first;
      watches_.erase(at);
      end({ticket, Status::kOk, 0, 0, agent});
    }
  }
}

void Session::cancel(uint64_t ticket) {
  for (auto at = watches_.begin(); at != watches_.end(); ++at) {
    if (at->second.first != ticket) continue;
    watches_.erase(at);
    return fail(ticket, Status::kCancelled, 0, "");
  }
  auto at = std::find_if(running_.begin(), running_.end(),
                         [ticket](const Running& one) { return one.ticket == ticket; });
  if (at == running_.end()) return;
  Running run = std::move(*at);
  running_.erase(at);
  settle(std::move(run), Status::kCancelled, 0, "");
}

void Session::poll(uint64_t now) {
  retryRefused();
  pollTransfers(now);
  pollNotifications();
  for (auto at = watches_.begin(); at != watches_.end();) {
    auto [ticket, deadline] = at->second;
    if (deadline == 0 || now < deadline) {
      ++at;
      continue;
    }
    at = watches_.erase(at);
    fail(ticket, Status::kTimeout, 0, "");
  }
}

void Session::close() {
  if (agent_ == nullptr) return;
  isClosing_ = true;
  while (!watches_.empty()) cancel(watches_.begin()->second.first);
  while (!running_.empty()) cancel(running_.back().ticket);
  retryRefused();
  for (Refused& one : refused_) {  // the end of the agent ends them as well
    if (one.event) end(std::move(*one.event));
  }
  refused_.clear();
  while (!registrations_.empty()) endRegistration(registrations_.begin());
  capi_.destroy_agent(std::exchange(agent_, nullptr));
  for (Event& event : late_) listener_.ended(std::move(event));
  late_.clear();
  for (Backend& backend : backends_) capi_.destroy_backend(backend.handle);
  backends_.clear();
}

}  // namespace dynamo::nixl
