#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#include <chrono>
#include <thread>

#include "cuda_fixtures.h"

using namespace cudatest;
using dynamo::cuda::IpcHandle;
using dynamo::cuda::renewRegion;

namespace {

constexpr uint64_t kSize = 1 << 20;

/// Waits until the device thread has handed so many copies to the driver.
void awaitCalls(Bench& bench, const char* function, int64_t calls) {
  uint64_t until = nowNanos() + 60 * kSecond;
  while (bench.fake().calls(function) < calls && nowNanos() < until) std::this_thread::yield();
  CHECK(bench.fake().calls(function) >= calls);
}

void failuresOfCallsEndTheirRequestOnly() {
  for (int nth = 1; nth <= 3; nth++) {
    Bench bench;
    uint64_t source = bench.allocate(Place::kPinned, kSize);
    uint64_t target = bench.allocate(Place::kDevice, kSize);
    bench.fake().fail("cuMemcpyAsync", nth, 1);
    CHECK(bench.submit(source, target, {{0, 0, 100}, {200, 200, 100}, {400, 400, 100}}) == Status::kOk);
    auto ended = bench.next();
    CHECK(ended.status == Status::kBackend && ended.bytes == 0);
    CHECK(bench.device().lastFailure() == "copying: CUDA_ERROR_INVALID_VALUE (1)");
    CHECK(bench.copy(source, target, {{0, 0, kSize}}) == Status::kOk);  // the next one is not concerned
    bench.fake().fail("cuEventCreate", 1, 2);
    CHECK(bench.copy(source, target, {{0, 0, 1}}) == Status::kOk);  // an event is reused
  }
  Bench bench;
  uint64_t source = bench.allocate(Place::kPinned, kSize);
  uint64_t target = bench.allocate(Place::kDevice, kSize);
  bench.fake().fail("cuEventCreate", 1, 2);
  CHECK(bench.copy(source, target, {{0, 0, 1}}) == Status::kNoMemory);
  bench.fake().fail("cuLaunchKernel", 1, 701);
  std::vector<CopyRange> many;
  for (uint64_t i = 0; i < 500; i++) many.push_back({64 * i, 64 * i, 32});
  CHECK(bench.copy(source, target, many) == Status::kBackend);
  CHECK(bench.copy(source, target, many) == Status::kOk);
}

void batchesThatAreRefusedGoSingly() {
  for (int error : {801, 1}) {
    Bench bench;
    std::mt19937_64 random(4);
    uint64_t source = bench.allocate(Place::kPinned, kSize);
    uint64_t target = bench.allocate(Place::kDevice, kSize);
    auto data = randomBytes(random, kSize);
    bench.write(source, data);
    bench.fake().fail("cuMemcpyBatchAsync", 1, error);
    std::vector<CopyRange> ranges;
    for (uint64_t i = 0; i < 20; i++) ranges.push_back({1024 * i, 1024 * i, 512});
    CHECK(bench.copy(source, target, ranges) == Status::kOk);
    CHECK(bench.copy(source, target, ranges) == Status::kOk);
    auto there = bench.read(target, kSize);
    for (const auto& range : ranges) CHECK(std::memcmp(&there[range.target], &data[range.source], 512) == 0);
    CHECK(bench.copies().counts().batches == 0);
    CHECK(bench.fake().calls("cuMemcpyBatchAsync") == 1);  // not tried again
  }
}

void stickyErrorsEndEverything() {
  Bench bench;
  uint64_t source = bench.allocate(Place::kPinned, kSize);
  uint64_t target = bench.allocate(Place::kDevice, kSize);
  bench.fake().allow(0);
  for (uint64_t ticket = 1; ticket <= 100; ticket++) {
    CHECK(bench.submit(source, target, {{0, 0, kSize}}, ticket) == Status::kOk);
  }
  bench.fake().failWork(2, 700);
  bench.fake().allow(-1);
  int lost = 0;
  for (int i = 0; i < 100; i++) {
    auto ended = bench.next();
    CHECK(ended.status == Status::kDeviceLost || (ended.status == Status::kOk && i == 0));
    lost += ended.status == Status::kDeviceLost ? 1 : 0;
  }
  CHECK(lost >= 99);
  CHECK(bench.device().isLost());
  // of the call that came first: the device's thread hands works over while the driver begins to fail
  CHECK(bench.device().lastFailure().find(": CUDA_ERROR_ILLEGAL_ADDRESS (700)") != std::string::npos);
  CHECK(bench.submit(source, target, {{0, 0, 1}}) == Status::kDeviceLost);
  uint64_t handle = 0;
  CHECK(allocateOnDevice(bench.device(), bench.devices(), 4096, &handle) == Status::kDeviceLost);
  CHECK(allocatePinned(bench.device(), bench.host(), 4096, false, &handle) == Status::kDeviceLost);
}

void stickyErrorsOfCallsEndEverything() {
  for (const char* function : {"cuMemcpyAsync", "cuEventRecord", "cuEventQuery"}) {
    Bench bench;
    uint64_t source = bench.allocate(Place::kPinned, kSize);
    uint64_t target = bench.allocate(Place::kDevice, kSize);
    bench.fake().fail(function, 1, 719);
    CHECK(bench.copy(source, target, {{0, 0, kSize}}) == Status::kDeviceLost);
    CHECK(bench.submit(source, target, {{0, 0, 1}}) == Status::kDeviceLost);
  }
  // whether memory is in use cannot be known without events, so any error there is the end
  for (const char* function : {"cuEventRecord", "cuEventQuery"}) {
    Bench bench;
    uint64_t source = bench.allocate(Place::kPinned, kSize);
    uint64_t target = bench.allocate(Place::kDevice, kSize);
    bench.fake().fail(function, 1, 1);
    CHECK(bench.copy(source, target, {{0, 0, kSize}}) == Status::kDeviceLost);
  }
}

void cancelsEndAtEveryStage() {
  Bench bench;
  uint64_t size = 6 * dynamo::cuda::kPartBytes;
  uint64_t source = bench.allocate(Place::kPinned, size);
  uint64_t target = bench.allocate(Place::kDevice, size);
  bench.fake().allow(0);
  int64_t before = bench.fake().calls("cuMemcpyAsync");
  CHECK(bench.submit(source, target, {{0, 0, size}}, 1) == Status::kOk);  // more than is given to the device
  CHECK(bench.submit(source, target, {{0, 0, 4096}}, 2) == Status::kOk);  // waits behind it
  awaitCalls(bench, "cuMemcpyAsync", before + 4);
  bench.copies().cancel(2);
  auto queued = bench.next();
  CHECK(queued.ticket == 2 && queued.status == Status::kCancelled && queued.bytes == 0);
  bench.copies().cancel(1);
  bench.copies().cancel(1);
  bench.copies().cancel(77);
  CHECK(bench.host().release(source) == Status::kOk);
  CHECK(bench.submit(source, target, {{0, 0, 1}}) == Status::kStale);
  std::vector<DeviceCopies::Completion> none;
  CHECK(bench.copies().await(50'000'000, &none) == Status::kOk && none.empty());  // the device has it still
  CHECK(bench.host().heldBytes() >= size);
  bench.fake().allow(-1);
  auto begun = bench.next();
  CHECK(begun.ticket == 1 && begun.status == Status::kCancelled);
  CHECK(begun.bytes > 0 && begun.bytes < size);
  bench.copies().cancel(1);
  CHECK(bench.submit(target, target, {{0, size / 2, 64}}, 1) == Status::kOk);  // a ticket that was used
  CHECK(bench.next().status == Status::kOk);
}

void urgentRequestsOvertake() {
  Bench bench;
  uint64_t size = 6 * dynamo::cuda::kPartBytes;
  uint64_t source = bench.allocate(Place::kPinned, size);
  uint64_t target = bench.allocate(Place::kDevice, size);
  bench.fake().allow(0);
  int64_t before = bench.fake().calls("cuMemcpyAsync");
  CHECK(bench.submit(source, target, {{0, 0, size}}, 1) == Status::kOk);
  awaitCalls(bench, "cuMemcpyAsync", before + 4);
  CHECK(bench.submit(source, target, {{0, 0, 4096}}, 2, 0, true) == Status::kOk);
  bench.fake().allow(-1);
  CHECK(bench.next().ticket == 2);
  CHECK(bench.next().ticket == 1);
}

void deadlinesEndWhatWaitsAndWhatRuns() {
  Bench bench;
  uint64_t source = bench.allocate(Place::kPinned, kSize);
  uint64_t target = bench.allocate(Place::kDevice, kSize);
  CHECK(bench.submit(source, target, {{0, 0, 64}}, 1, nowNanos() - 1) == Status::kOk);
  CHECK(bench.next().status == Status::kTimeout);
  bench.fake().allow(0);
  int64_t before = bench.fake().calls("cuMemcpyAsync");
  CHECK(bench.submit(source, target, {{0, 0, 64}}, 1, nowNanos() + 20'000'000) == Status::kOk);
  awaitCalls(bench, "cuMemcpyAsync", before + 1);
  std::vector<DeviceCopies::Completion> none;
  CHECK(bench.copies().await(40'000'000, &none) == Status::kOk && none.empty());
  awaitCalls(bench, "cuEventQuery",
             bench.fake().calls("cuEventQuery") + 2);  // it has looked at the clock since
  bench.fake().allow(-1);
  CHECK(bench.next().status == Status::kTimeout);
}

void handlesThatEndedAreRefused() {
  Bench bench;
  uint64_t source = bench.allocate(Place::kPinned, kSize);
  uint64_t target = bench.allocate(Place::kDevice, kSize);
  CHECK(bench.devices().release(target) == Status::kOk);
  CHECK(bench.devices().release(target) == Status::kStale);
  CHECK(bench.submit(source, target, {{0, 0, 1}}) == Status::kStale);
  CHECK(bench.host().release(target) == Status::kStale);  // a region of another kind
  uint64_t again = bench.allocate(Place::kDevice, kSize);
  CHECK(again != target);
  CHECK(bench.submit(source, target, {{0, 0, 1}}) == Status::kStale);
  CHECK(bench.submit(source, source, {{0, 1, 1}}) == Status::kInvalid);  // no side is on the device
  CHECK(bench.copy(source, again, {}) == Status::kOk);
  uint64_t handle = 0;
  CHECK(allocateOnDevice(bench.device(), bench.devices(), 0, &handle) == Status::kInvalid);
  CHECK(allocateOnDevice(bench.device(), bench.devices(), uint64_t{1} << 50, &handle) == Status::kNoMemory);
  bench.fake().fail("cuMemHostAlloc", 1, 2);
  CHECK(allocatePinned(bench.device(), bench.host(), 4096, true, &handle) == Status::kNoMemory);
  for (const char* function : {"cuMemsetD8Async", "cuStreamSynchronize", "cuStreamCreate"}) {
    bench.fake().fail(function, 1, 1);
    CHECK(allocateOnDevice(bench.device(), bench.devices(), 4096, &handle) == Status::kBackend);
  }
}

void registeredRegionsAreReached() {
  Bench bench;
  std::mt19937_64 random(6);
  uint64_t host = bench.allocate(Place::kPageable, kSize);
  uint64_t target = bench.allocate(Place::kDevice, kSize);
  auto data = randomBytes(random, kSize);
  bench.write(host, data);
  CHECK(registerRegion(bench.device(), bench.host(), host) == Status::kOk);
  CHECK(registerRegion(bench.device(), bench.host(), host) == Status::kInvalid);
  uint64_t pinned = bench.allocate(Place::kPinned, 4096);
  CHECK(registerRegion(bench.device(), bench.host(), pinned) == Status::kInvalid);
  uint64_t shared = 0;
  CHECK(bench.host().allocateShared(kSize, &shared) == Status::kOk);
  CHECK(registerRegion(bench.device(), bench.host(), shared) == Status::kOk);
  std::vector<CopyRange> many;
  for (uint64_t i = 0; i < 500; i++) many.push_back({64 * i, 64 * i, 48});
  uint64_t kernels = bench.copies().counts().kernels;
  CHECK(bench.copy(host, target, many) == Status::kOk);
  CHECK(bench.copy(target, shared, many) == Status::kOk);
  CHECK(bench.copies().counts().kernels == kernels + 2);
  auto there = bench.read(shared, kSize);
  for (const auto& range : many) CHECK(std::memcmp(&there[range.target], &data[range.source], 48) == 0);
  bench.fake().fail("cuMemHostRegister", 1, 2);
  uint64_t other = bench.allocate(Place::kPageable, 4096);
  CHECK(registerRegion(bench.device(), bench.host(), other) == Status::kNoMemory);
}

void importsLastAsLongAsTheirLease() {
  Bench bench;
  std::mt19937_64 random(7);
  uint64_t own = bench.allocate(Place::kDevice, kSize);
  uint64_t out = bench.allocate(Place::kPinned, kSize);
  auto data = randomBytes(random, kSize);
  bench.write(own, data);
  IpcHandle name;
  CHECK(exportRegion(bench.device(), bench.devices(), own, &name) == Status::kOk);
  uint64_t import = 0;
  uint64_t later = nowNanos() + 3600 * kSecond;
  CHECK(importRegion(bench.device(), bench.devices(), name, kSize, later, &import) == Status::kBackend);
  CHECK(!bench.device().isLost());  // the driver refuses a process its own memory
  bench.fake().importOwn(1);
  CHECK(importRegion(bench.device(), bench.devices(), name, kSize + 1, later, &import) == Status::kRange);
  CHECK(importRegion(bench.device(), bench.devices(), {}, kSize, later, &import) == Status::kBackend);
  CHECK(importRegion(bench.device(), bench.devices(), name, kSize, later, &import) == Status::kOk);
  CHECK(bench.copy(import, out, {{0, 0, kSize}}) == Status::kOk);
  CHECK(bench.read(out, kSize) == data);
  CHECK(exportRegion(bench.device(), bench.devices(), import, &name) == Status::kInvalid);
  CHECK(renewRegion(bench.devices(), own, nowNanos(), later) == Status::kInvalid);
  CHECK(renewRegion(bench.devices(), import, nowNanos(), nowNanos()) == Status::kOk);  // over, as of now
  CHECK(bench.submit(import, out, {{0, 0, 1}}) == Status::kStale);
  CHECK(renewRegion(bench.devices(), import, nowNanos(), later) == Status::kStale);
  CHECK(bench.devices().release(import) == Status::kOk);
}

/// A lease that ends while parts of a copy wait: those that the device has end, and no further one begins.
void leasesThatEndStopCopies() {
  Bench bench;
  bench.fake().importOwn(1);
  uint64_t size = 6 * dynamo::cuda::kPartBytes;
  uint64_t own = bench.allocate(Place::kDevice, size);
  uint64_t out = bench.allocate(Place::kPinned, size);
  IpcHandle name;
  CHECK(exportRegion(bench.device(), bench.devices(), own, &name) == Status::kOk);
  uint64_t import = 0;
  CHECK(importRegion(bench.device(), bench.devices(), name, size, nowNanos() + 3600 * kSecond, &import) ==
        Status::kOk);
  bench.fake().allow(0);
  int64_t before = bench.fake().calls("cuMemcpyAsync");
  CHECK(bench.submit(import, out, {{0, 0, size}}, 1) == Status::kOk);
  awaitCalls(bench, "cuMemcpyAsync", before + 4);
  CHECK(renewRegion(bench.devices(), import, nowNanos(), nowNanos()) == Status::kOk);
  bench.fake().allow(-1);
  auto ended = bench.next();
  CHECK(ended.status == Status::kStale && ended.bytes < size);
}

void closingEndsWhatIsLeft() {
  Bench bench;
  uint64_t size = 6 * dynamo::cuda::kPartBytes;
  uint64_t source = bench.allocate(Place::kPinned, size);
  uint64_t target = bench.allocate(Place::kDevice, size);
  bench.fake().allow(0);
  int64_t before = bench.fake().calls("cuMemcpyAsync");
  CHECK(bench.submit(source, target, {{0, 0, size}}, 1) == Status::kOk);
  CHECK(bench.submit(source, target, {{0, 0, size}}, 2) == Status::kOk);
  awaitCalls(bench, "cuMemcpyAsync", before + 4);
  std::thread closing([&] { bench.closeCopies(0); });
  auto first = bench.next();
  CHECK(first.ticket == 2 && first.status == Status::kCancelled);
  bench.fake().allow(-1);
  CHECK(bench.next().status == Status::kCancelled);
  closing.join();
  CHECK(bench.submit(source, target, {{0, 0, 1}}) == Status::kStale);
  std::vector<DeviceCopies::Completion> none;
  CHECK(bench.copies().await(kSecond, &none) == Status::kStale);
  bench.closeCopies(0);
}

void manyThreadsMayUseADevice() {
  Bench bench;
  uint64_t device = bench.allocate(Place::kDevice, kSize);
  std::vector<std::thread> threads;
  std::atomic<int> accepted{0};
  std::atomic<bool> over{false};
  std::atomic<int> ended{0};
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(static_cast<uint64_t>(t));
      for (int i = 0; i < 100; i++) {
        uint64_t host = 0;
        CHECK(bench.host().allocate(4096, &host) == Status::kOk);
        uint64_t ticket = static_cast<uint64_t>(1 + t * 1000 + i);
        if (bench.submit(host, device, {{0, random() % (kSize - 4096), 4096}}, ticket) == Status::kOk)
          accepted++;
        if (random() % 2 == 0) bench.copies().cancel(ticket);
        CHECK(bench.host().release(host) == Status::kOk);
      }
    });
  }
  std::thread waiting([&] {
    std::vector<DeviceCopies::Completion> some;
    while (!over || ended < accepted) {
      CHECK(bench.copies().await(1'000'000, &some) == Status::kOk);
      ended += static_cast<int>(some.size());
    }
  });
  for (auto& one : threads) one.join();
  over = true;
  waiting.join();
  CHECK(ended == 400 && accepted == 400);
  CHECK(bench.host().heldBytes() == 0);
}

void devicesWithoutKernelsStillCopy() {
  Fake fake;
  fake.reset(12080, 1);
  std::string why;
  auto driver = Driver::open(fakePath(), &why);
  fake.fail("cuModuleLoadDataEx", 1, 222);
  std::shared_ptr<Device> device;
  CHECK(Device::open(driver, 0, &device, &why) == Status::kOk);
  CHECK(device->facts().whyNoKernels.find("222") != std::string::npos);
  CHECK(device->facts().uuid == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  for (const char* function : {"cuStreamCreate", "cuMemHostAlloc"}) {
    if (std::string(function) == "cuMemHostAlloc") {
      device.reset();
      CHECK(Device::open(driver, 0, &device, &why) == Status::kOk);
    }
    fake.fail(function, 1, 2);
    RegionTable host;
    RegionTable devices(RegionTable::Kind::kDevice);
    std::unique_ptr<DeviceCopies> copies;
    CHECK(DeviceCopies::open(device, host, devices, &copies) == Status::kNoMemory);
  }
  device.reset();
  fake.fail("cuDevicePrimaryCtxRetain", 1, 2);
  CHECK(Device::open(driver, 0, &device, &why) == Status::kNoMemory);
  CHECK(why.find("CUDA_ERROR_OUT_OF_MEMORY") != std::string::npos);
  CHECK(fake.violations() == 0);
}

/// A device that never answers: its memory is never anybody else's.
void aDeviceThatHangsIsGivenUp() {
#if defined(__SANITIZE_ADDRESS__)
  __lsan::ScopedDisabler leaks;  // what such a device may write to is kept for ever
#endif
  Bench bench;
  bench.expectLeaks();
  uint64_t source = bench.allocate(Place::kPinned, kSize);
  uint64_t target = bench.allocate(Place::kDevice, kSize);
  bench.fake().allow(0);
  int64_t before = bench.fake().calls("cuMemcpyAsync");
  CHECK(bench.submit(source, target, {{0, 0, kSize}}, 1) == Status::kOk);
  awaitCalls(bench, "cuMemcpyAsync", before + 1);
  bench.copies().close(0, 1);
  CHECK(bench.next().status == Status::kDeviceLost);
  CHECK(bench.device().isLost());
  CHECK(bench.host().release(source) == Status::kOk);
  CHECK(bench.devices().release(target) == Status::kOk);
  CHECK(bench.host().heldBytes() == kSize && bench.devices().heldBytes() == kSize);
  CHECK(bench.fake().calls("cuMemFree") == 0);
  bench.fake().allow(-1);  // it writes after all, into what was kept for it
  uint64_t until = nowNanos() + 60 * kSecond;
  while (bench.fake().busy() != 0 && nowNanos() < until) std::this_thread::yield();
  CHECK(bench.fake().busy() == 0);
}

}  // namespace

void cudaFaultTests() {
  failuresOfCallsEndTheirRequestOnly();
  batchesThatAreRefusedGoSingly();
  stickyErrorsEndEverything();
  stickyErrorsOfCallsEndEverything();
  cancelsEndAtEveryStage();
  urgentRequestsOvertake();
  deadlinesEndWhatWaitsAndWhatRuns();
  handlesThatEndedAreRefused();
  registeredRegionsAreReached();
  importsLastAsLongAsTheirLease();
  leasesThatEndStopCopies();
  closingEndsWhatIsLeft();
  manyThreadsMayUseADevice();
  devicesWithoutKernelsStillCopy();
  aDeviceThatHangsIsGivenUp();  // the last: its context stays
}
