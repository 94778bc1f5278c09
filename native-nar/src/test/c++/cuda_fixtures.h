#ifndef DYNAMO_TEST_CUDA_FIXTURES_H_
#define DYNAMO_TEST_CUDA_FIXTURES_H_

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../../main/c++/backend/cuda/device_copies.h"
#include "../../main/c++/backend/cuda/device_memory.h"
#include "check.h"

namespace cudatest {

using dynamo::CopyRange;
using dynamo::RegionTable;
using dynamo::Status;
using dynamo::cuda::Device;
using dynamo::cuda::DeviceCopies;
using dynamo::cuda::Driver;
using dynamo::cuda::Place;

constexpr uint64_t kSecond = 1'000'000'000;

inline uint64_t nowNanos() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

/// The path of the fake driver library, which the build of the tests passes on.
inline std::string fakePath() {
  const char* path = std::getenv("DYNAMO_FAKE_CUDA");
  CHECK(path != nullptr);
  return path;
}

/// Whether the tests run on a GPU, by the system's driver: then nothing can be held or made to fail.
inline bool isReal() { return std::getenv("DYNAMO_REAL_CUDA") != nullptr; }

/// The controls of the fake driver.
struct Fake {
  void (*reset)(int version, int devices);
  void (*fail)(const char* function, int nth, int error);
  void (*failWork)(int nth, int error);
  void (*allow)(int64_t works);
  void (*withoutSearch)(int without);
  void (*importOwn)(int allowed);
  int64_t (*calls)(const char* function);
  int64_t (*live)();
  int (*busy)();
  int64_t (*violations)();

  Fake() {
    void* library = dlopen(fakePath().c_str(), RTLD_NOW | RTLD_LOCAL);
    CHECK(library != nullptr);
    find(library, &reset, "fakeCudaReset");
    find(library, &fail, "fakeCudaFail");
    find(library, &failWork, "fakeCudaFailWork");
    find(library, &allow, "fakeCudaAllow");
    find(library, &withoutSearch, "fakeCudaWithoutSearch");
    find(library, &importOwn, "fakeCudaImportOwn");
    find(library, &calls, "fakeCudaCalls");
    find(library, &live, "fakeCudaLive");
    find(library, &busy, "fakeCudaBusy");
    find(library, &violations, "fakeCudaViolations");
  }

 private:
  template <typename F>
  static void find(void* library, F* into, const char* name) {
    *into = reinterpret_cast<F>(dlsym(library, name));
    CHECK(*into != nullptr);
  }
};

/// An opened fake device, with what tests do with it. Its end checks that nothing was left or misused.
class Bench {
 public:
  explicit Bench(int version = 12080) {
    if (!isReal()) {
      fake_ = std::make_unique<Fake>();
      fake_->reset(version, 1);
      before_ = fake_->live();
    }
    std::string why;
    auto driver = Driver::open(isReal() ? Driver::kLibrary : fakePath(), &why);
    if (driver == nullptr) std::fprintf(stderr, "%s\n", why.c_str());
    CHECK(driver != nullptr);
    CHECK(Device::open(driver, 0, &device_, &why) == Status::kOk);
    CHECK(DeviceCopies::open(device_, host_, devices_, &copies_) == Status::kOk);
  }

  ~Bench() {
    if (fake_ != nullptr) fake_->allow(-1);
    if (copies_ != nullptr) copies_->close(0);
    host_.releaseAll();
    devices_.releaseAll();
    copies_.reset();
    device_.reset();
    if (fake_ == nullptr) return;
    CHECK(fake_->violations() == 0);
    if (!leaks_) CHECK(fake_->live() == before_);
  }

  /// Expects that something is never given back.
  void expectLeaks() { leaks_ = true; }

  Fake& fake() { return *fake_; }
  Device& device() { return *device_; }
  DeviceCopies& copies() { return *copies_; }
  RegionTable& host() { return host_; }
  RegionTable& devices() { return devices_; }
  void closeCopies(uint64_t nanos) { copies_->close(nanos); }

  uint64_t allocate(Place place, uint64_t bytes) {
    uint64_t handle = 0;
    Status status = place == Place::kDevice   ? allocateOnDevice(*device_, devices_, bytes, &handle)
                    : place == Place::kPinned ? allocatePinned(*device_, host_, bytes, false, &handle)
                                              : host_.allocate(bytes, &handle);
    CHECK(status == Status::kOk);
    return handle;
  }

  Status submit(uint64_t source, uint64_t target, std::vector<CopyRange> ranges, uint64_t ticket = 0,
                uint64_t deadline = 0, bool onboard = false) {
    return copies_->submit({ticket == 0 ? ++ticket_ : ticket, onboard, deadline, source, target},
                           std::move(ranges));
  }

  /// Waits for the end of one request.
  DeviceCopies::Completion next() {
    uint64_t until = nowNanos() + 60 * kSecond;
    std::vector<DeviceCopies::Completion> ended;
    while (ready_.empty() && nowNanos() < until) {
      if (copies_->await(kSecond, &ended) != Status::kOk) break;
      ready_.insert(ready_.end(), ended.begin(), ended.end());
    }
    CHECK(!ready_.empty());
    auto first = ready_.front();
    ready_.erase(ready_.begin());
    return first;
  }

  Status copy(uint64_t source, uint64_t target, std::vector<CopyRange> ranges) {
    Status status = submit(source, target, std::move(ranges));
    return status == Status::kOk ? next().status : status;
  }

  /// The bytes of a region, wherever it is.
  std::vector<std::byte> read(uint64_t handle, uint64_t bytes) {
    return RegionTable::kindOf(handle) == RegionTable::Kind::kDevice ? fetched(handle, bytes)
                                                                     : onHost(handle, bytes);
  }

  void write(uint64_t handle, const std::vector<std::byte>& bytes) {
    uint64_t into = handle;
    bool onDevice = RegionTable::kindOf(handle) == RegionTable::Kind::kDevice;
    if (onDevice) into = allocate(Place::kPinned, bytes.size());
    {
      RegionTable::Pin pin;
      CHECK(host_.pin(into, &pin) == Status::kOk);
      std::memcpy(pin.at(0, bytes.size()), bytes.data(), bytes.size());
    }
    if (!onDevice) return;
    CHECK(copy(into, handle, {{0, 0, bytes.size()}}) == Status::kOk);
    CHECK(host_.release(into) == Status::kOk);
  }

 private:
  std::vector<std::byte> onHost(uint64_t handle, uint64_t bytes) {
    RegionTable::Pin pin;
    CHECK(host_.pin(handle, &pin) == Status::kOk);
    return {pin.at(0, bytes), pin.at(0, bytes) + bytes};
  }

  std::vector<std::byte> fetched(uint64_t handle, uint64_t bytes) {
    uint64_t staging = allocate(Place::kPinned, bytes);
    CHECK(copy(handle, staging, {{0, 0, bytes}}) == Status::kOk);
    auto all = onHost(staging, bytes);
    CHECK(host_.release(staging) == Status::kOk);
    return all;
  }

  std::unique_ptr<Fake> fake_;
  int64_t before_ = 0;
  bool leaks_ = false;
  RegionTable host_;
  RegionTable devices_{RegionTable::Kind::kDevice};
  std::shared_ptr<Device> device_;
  std::unique_ptr<DeviceCopies> copies_;
  std::vector<DeviceCopies::Completion> ready_;
  uint64_t ticket_ = 1'000'000;
};

inline std::vector<std::byte> randomBytes(std::mt19937_64& random, size_t bytes) {
  std::vector<std::byte> all(bytes);
  for (auto& one : all) one = static_cast<std::byte>(random());
  return all;
}

}  // namespace cudatest

#endif  // DYNAMO_TEST_CUDA_FIXTURES_H_
