#ifndef DYNAMO_BACKEND_UCX_WORKER_H_
#define DYNAMO_BACKEND_UCX_WORKER_H_

#include <memory>
#include <string>

#include "capi.h"

namespace dynamo::ucx {

/// A worker of UCX: what peers connect to, and what has to be progressed. For one thread.
class Worker {
 public:
  /// Null when UCX refuses, with its status.
  static std::unique_ptr<Worker> make(const Capi& capi, UcpContext context, UcpStatus* status) {
    UcpWorkerParams params{};
    params.mask = UcpWorkerParams::kHasThreadMode;
    params.threadMode = UcpWorkerParams::kOneThread;
    UcpWorker worker = nullptr;
    *status = capi.ucp_worker_create(context, &params, &worker);
    if (*status != kUcpOk) return nullptr;
    std::unique_ptr<Worker> made(new Worker(capi, worker));
    *status = capi.ucp_worker_get_efd(worker, &made->descriptor_);
    return *status == kUcpOk ? std::move(made) : nullptr;
  }

  /// Ends all connections: what peers have sent and was not progressed has no effect any more.
  ~Worker() { capi_.ucp_worker_destroy(worker_); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  UcpWorker handle() const { return worker_; }
  /// Readable when there is something to progress, once it is armed.
  int descriptor() const { return descriptor_; }
  /// Returns whether something was progressed.
  bool progress() { return capi_.ucp_worker_progress(worker_) != 0; }
  /// False when there is something to progress now.
  bool arm() { return capi_.ucp_worker_arm(worker_) != kUcpBusy; }

  /// Empty when UCX refuses.
  std::string address() const {
    UcpAddress address = nullptr;
    size_t size = 0;
    if (capi_.ucp_worker_get_address(worker_, &address, &size) != kUcpOk) return {};
    std::string bytes(reinterpret_cast<const char*>(address), size);
    capi_.ucp_worker_release_address(worker_, address);
    return bytes;
  }

 private:
  Worker(const Capi& capi, UcpWorker worker) : capi_(capi), worker_(worker) {}

  const Capi& capi_;
  UcpWorker worker_;
  int descriptor_ = -1;
};

}  // namespace dynamo::ucx

#endif  // DYNAMO_BACKEND_UCX_WORKER_H_
