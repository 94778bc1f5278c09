#include "device.h"

#include <cstdio>
#include <utility>

#include "kernels.h"

namespace dynamo::cuda {
namespace {

constexpr int kJitErrorLog = 5;
constexpr int kJitErrorLogBytes = 6;

std::string uuidText(const Uuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; i++) {
    char pair[3];
    std::snprintf(pair, sizeof pair, "%02x", uuid.bytes[i]);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += pair;
  }
  return text;
}

}  // namespace

Status Device::open(std::shared_ptr<const Driver> driver, int index, std::shared_ptr<Device>* opened,
                    std::string* why) {
  if (index < 0 || index >= driver->deviceCount()) {
    *why = "there is no GPU " + std::to_string(index) + ", but " + std::to_string(driver->deviceCount()) +
           " of them, counted from 0";
    return Status::kInvalid;
  }
  std::shared_ptr<Device> made(new Device(std::move(driver)));
  const Functions& call = made->functions();
  DeviceOrdinal ordinal = 0;
  Result result = call.deviceGet(&ordinal, index);
  if (result == kSuccess) result = made->describe(ordinal);
  if (result == kSuccess) result = call.primaryContextRetain(&made->context_, ordinal);
  if (result != kSuccess) {
    *why = "GPU " + std::to_string(index) + " cannot be used: " + made->driver().describe(result);
    made->context_ = nullptr;
    return statusOf(result);
  }
  made->ordinal_ = ordinal;
  made->loadKernels();
  *opened = std::move(made);
  return Status::kOk;
}

Result Device::describe(DeviceOrdinal device) {
  const Functions& call = functions();
  char name[256] = "";
  Uuid uuid{};
  size_t bytes = 0;
  int unified = 0;
  Result result = call.deviceGetName(name, sizeof name - 1, device);
  if (result == kSuccess) result = call.deviceGetUuid(&uuid, device);
  if (result == kSuccess) result = call.deviceTotalMem(&bytes, device);
  if (result == kSuccess) result = call.deviceGetAttribute(&facts_.major, kAttributeMajor, device);
  if (result == kSuccess) result = call.deviceGetAttribute(&facts_.minor, kAttributeMinor, device);
  if (result == kSuccess) result = call.deviceGetAttribute(&unified, kAttributeUnifiedAddressing, device);
  if (result == kSuccess) {
    result = call.deviceGetAttribute(&facts_.multiprocessors, kAttributeMultiprocessors, device);
  }
  if (result == kSuccess && unified == 0) result = kNotSupported;  // one call copies any way because of it
  facts_.name = name;
  facts_.uuid = uuidText(uuid);
  facts_.bytes = bytes;
  return result;
}

/// Has the driver compile the kernels. Without them copies go by the copy engines.
void Device::loadKernels() {
  const Functions& call = functions();
  if (call.launchKernel == nullptr) {
    facts_.whyNoKernels = "the driver has no cuLaunchKernel";
    return;
  }
  Scope scope(*this);
  char log[2048] = "";
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log - 1)};
  Result result = scope.result();
  if (result == kSuccess) result = call.moduleLoadDataEx(&module_, kModule, 2, options, values);
  Kernels found;
  const std::pair<Function**, const char*> entries[] = {{&found.copyInline, kCopyInline},
                                                        {&found.copyList, kCopyList},
                                                        {&found.permute16, "permute16"},
                                                        {&found.permute4, "permute4"},
                                                        {&found.permute1, "permute1"}};
  for (const auto& [into, name] : entries) {
    if (result == kSuccess) result = call.moduleGetFunction(into, module_, name);
  }
  if (result == kSuccess) {
    kernels_ = found;
  } else {
    facts_.whyNoKernels = driver().describe(result) + (log[0] == '\0' ? "" : ": ") + log;
    failed("cuModuleLoadDataEx", result);
  }
}

Device::~Device() {
  if (context_ == nullptr || givenUp_.load(std::memory_order_acquire)) return;
  reap();
  if (module_ != nullptr && !isLost()) {
    Scope scope(*this);
    if (scope.result() == kSuccess) functions().moduleUnload(module_);
  }
  functions().primaryContextRelease(ordinal_);
}

Status Device::failed(const char* call, Result error) {
  Status status = statusOf(error);
  if (status == Status::kOk) return status;
  std::string words = std::string(call) + ": " + driver().describe(error);
  if (status == Status::kDeviceLost) {
    lose(words);
  } else {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!isLost()) lastFailure_ = words;  // the one that lost it stays
  }
  return status;
}

void Device::lose(const std::string& reason) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (lost_.exchange(true, std::memory_order_acq_rel)) return;
  lastFailure_ = reason;
}

void Device::giveUp(const std::string& reason) {
  givenUp_.store(true, std::memory_order_release);
  lose(reason);
}

std::string Device::lastFailure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return lastFailure_;
}

void Device::discard(std::function<void(const Functions&)> free) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    discarded_.push_back(std::move(free));
    if (reaper_ != nullptr) {
      reaper_();
      return;
    }
  }
  reap();
}

void Device::setReaper(std::function<void()> wake) {
  bool ends = wake == nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    reaper_ = std::move(wake);
  }
  if (ends) reap();
}

void Device::reap() {
  std::vector<std::function<void(const Functions&)>> all;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    all.swap(discarded_);
  }
  if (all.empty() || givenUp_.load(std::memory_order_acquire)) return;
  Scope scope(*this);
  // Of a lost device, too: what of it can still be freed is, and the rest goes with the context.
  for (auto& free : all) free(functions());
}

}  // namespace dynamo::cuda
