#include "device_copies.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "device_memory.h"

namespace dynamo::cuda {
namespace {

constexpr uint64_t kNever = ~uint64_t{0};
constexpr uint64_t kHour = uint64_t{3600} * 1'000'000'000;
constexpr uint64_t kSpinNanos = 50'000;  // a small copy ends within this, and a sleep would be longer
constexpr uint64_t kShortestNap = 20'000;
constexpr uint64_t kLongestNap = 100'000;

/// The clock of System.nanoTime() on Linux, so that deadlines cross over as they are.
uint64_t nowNanos() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

struct DeviceCopies::Job {
  /// One side of a copy, pinned.
  struct Side {
    RegionTable::Pin pin;
    Place place = Place::kPageable;
    uint64_t address = 0;        // for the copy engines
    uint64_t kernelAddress = 0;  // for kernels
    const DeviceBlock* block = nullptr;
  };

  uint64_t ticket = 0;
  bool onboard = false;
  uint64_t deadline = kNever;
  Side from;
  Side to;
  std::vector<CopyRange> ranges;
  bool permutes = false;  // then blocks instead of ranges
  BlockShape shape{};
  std::vector<BlockPair> blocks;
  size_t next = 0;      // the range or block to go on with
  uint64_t within = 0;  // bytes of it that were begun
  uint64_t moved = 0;
  size_t flying = 0;  // parts on the device
  Status status = Status::kOk;

  bool isBegun() const { return next == (permutes ? blocks.size() : ranges.size()); }
};

DeviceCopies::DeviceCopies(std::shared_ptr<Device> device, RegionTable& host, RegionTable& devices)
    : device_(std::move(device)), host_(host), devices_(devices) {}

Status DeviceCopies::open(std::shared_ptr<Device> device, RegionTable& host, RegionTable& devices,
                          std::unique_ptr<DeviceCopies>* opened) {
  std::unique_ptr<DeviceCopies> made(new DeviceCopies(std::move(device), host, devices));
  {
    Device::Scope scope(*made->device_);
    Result result = scope.result() == kSuccess ? made->setUp() : scope.result();
    if (result != kSuccess) {
      made->tearDown();
      return made->device_->failed("setting up streams", result);
    }
  }
  made->thread_ = std::thread([raw = made.get()] { raw->run(); });
  *opened = std::move(made);
  return Status::kOk;
}

DeviceCopies::~DeviceCopies() { close(0); }

Status DeviceCopies::pinSides(const Order& order, Job* job) {
  auto pin = [this](uint64_t handle, Job::Side* side) {
    bool onDevice = RegionTable::kindOf(handle) == RegionTable::Kind::kDevice;
    Status status = (onDevice ? devices_ : host_).pin(handle, &side->pin);
    if (status != Status::kOk) return status;
    if (onDevice) {
      side->block = dynamic_cast<const DeviceBlock*>(side->pin.backing());
      if (side->block == nullptr || &side->block->device() != device_.get()) return Status::kInvalid;
      if (side->block->isOver(nowNanos())) return Status::kStale;
      side->place = Place::kDevice;
      side->address = side->kernelAddress = side->block->address();
      return Status::kOk;
    }
    side->address = reinterpret_cast<uint64_t>(side->pin.at(0, side->pin.size()));
    const auto* pinned = dynamic_cast<const PinnedBlock*>(side->pin.backing());
    if (pinned != nullptr && &pinned->device() == device_.get()) {
      side->place = Place::kPinned;
      side->kernelAddress = pinned->address();
    }
    return Status::kOk;
  };
  if (device_->isLost()) return Status::kDeviceLost;
  Status status = pin(order.source, &job->from);
  if (status == Status::kOk) status = pin(order.target, &job->to);
  if (status != Status::kOk) return status;
  if (job->from.place != Place::kDevice && job->to.place != Place::kDevice) return Status::kInvalid;
  job->ticket = order.ticket;
  job->onboard = order.onboard;
  if (order.deadlineNanos != 0) job->deadline = order.deadlineNanos;
  return Status::kOk;
}

Status DeviceCopies::submit(const Order& order, std::vector<CopyRange> ranges) {
  auto job = std::make_unique<Job>();
  Status status = pinSides(order, job.get());
  if (status != Status::kOk) return status;
  status =
      checkRanges(job->from.pin, job->to.pin, order.source == order.target, ranges.data(), ranges.size());
  if (status != Status::kOk) return status;
  ranges.resize(mergeRanges(ranges.data(), ranges.size()));
  job->ranges = std::move(ranges);
  return enqueue(std::move(job));
}

Status DeviceCopies::submitPermutation(const Order& order, const BlockShape& shape,
                                       std::vector<BlockPair> blocks) {
  auto job = std::make_unique<Job>();
  Status status = pinSides(order, job.get());
  if (status != Status::kOk) return status;
  status = checkBlocks(job->from.pin, job->to.pin, order.source == order.target, shape, blocks);
  if (status != Status::kOk) return status;
  bool reachable = job->from.place != Place::kPageable && job->to.place != Place::kPageable;
  if (!reachable || device_->kernels().permute16 == nullptr || Launches::blocksOfLaunch(shape) == 0) {
    return Status::kUnsupported;
  }
  job->permutes = true;
  job->shape = shape;
  job->blocks = std::move(blocks);
  return enqueue(std::move(job));
}

Status DeviceCopies::enqueue(std::unique_ptr<Job> job) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (life_ != Life::kOpen) return Status::kStale;
  // Completions that nobody has taken count, too: their room is bounded as well.
  if (open_.size() + completions_.size() >= kMostRequests) return Status::kBusy;
  if (!open_.insert(job->ticket).second) return Status::kInvalid;
  arrived_.push_back(std::move(job));
  woken_ = true;
  wake_.notify_one();
  return Status::kOk;
}

void DeviceCopies::cancel(uint64_t ticket) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (open_.count(ticket) == 0) return;
  cancels_.insert(ticket);
  woken_ = true;
  wake_.notify_one();
}

void DeviceCopies::wake() {
  std::lock_guard<std::mutex> lock(mutex_);
  woken_ = true;
  wake_.notify_one();
}

Status DeviceCopies::await(uint64_t maxNanos, std::vector<Completion>* ended) {
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait_for(lock, std::chrono::nanoseconds(std::min(maxNanos, kHour)),
                  [this] { return !completions_.empty() || life_ == Life::kClosed; });
  ended->clear();
  ended->swap(completions_);
  return ended->empty() && life_ == Life::kClosed ? Status::kStale : Status::kOk;
}

DeviceCopies::Counts DeviceCopies::counts() const {
  auto read = [](const std::atomic<uint64_t>& count) { return count.load(std::memory_order_relaxed); };
  return {read(completed_), read(failed_), read(bytes_), read(parts_[0]), read(parts_[1]), read(parts_[2])};
}

void DeviceCopies::close(uint64_t maxNanos, uint64_t quietNanos) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    uint64_t until = nowNanos() + std::min(maxNanos, kHour);
    closeNanos_ = life_ == Life::kOpen ? until : std::min(closeNanos_, until);
    quietNanos_ = quietNanos;
    if (life_ == Life::kOpen) life_ = Life::kClosing;
    woken_ = true;
    wake_.notify_one();
  }
  std::lock_guard<std::mutex> lock(joining_);
  if (thread_.joinable()) thread_.join();
}

Result DeviceCopies::setUp() {
  const Functions& call = device_->functions();
  for (Lane& lane : lanes_) {
    Result result = call.streamCreate(&lane.stream, kStreamNonBlocking);
    if (result != kSuccess) return result;
  }
  batches_ = call.memcpyBatchAsync != nullptr || call.memcpyPlainBatchAsync != nullptr;
  Result result = Launches::open(*device_, &launches_);
  return result == kNotSupported ? kSuccess : result;
}

void DeviceCopies::tearDown() {
  launches_.reset();
  const Functions& call = device_->functions();
  for (Event* event : idleEvents_) call.eventDestroy(event);
  idleEvents_.clear();
  for (Lane& lane : lanes_) {
    if (lane.stream != nullptr) call.streamDestroy(lane.stream);
    lane.stream = nullptr;
  }
}

void DeviceCopies::run() {
  Result entered = device_->enter();
  if (entered != kSuccess) device_->lose("cuCtxSetCurrent: " + device_->driver().describe(entered));
  device_->setReaper([this] { wake(); });
  bool progressed = true;
  do {
    applyCancels();
    endExpired(nowNanos());
    progressed = poll();
    if (!device_->isLost()) issue();
    if (device_->isLost()) loseAll();
    device_->reap();
  } while (rest(progressed));
  tearDown();
  device_->setReaper(nullptr);
  std::lock_guard<std::mutex> lock(mutex_);
  life_ = Life::kClosed;
  ended_.notify_all();
}

/// Waits until there may be something to do. Returns false when nothing will come any more.
bool DeviceCopies::rest(bool progressed) {
  uint64_t now = nowNanos();
  if (progressed) idleSince_ = now;
  std::vector<std::unique_ptr<Job>> arrived;
  bool overdue = false;
  bool stuck = false;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    auto due = [this] { return woken_ || life_ == Life::kClosing; };
    if (flyingParts_ > 0) {
      uint64_t idle = now - idleSince_;
      if (idle >= kSpinNanos && !woken_) {
        uint64_t nap = std::clamp(idle / 4, kShortestNap, kLongestNap);
        wake_.wait_for(lock, std::chrono::nanoseconds(nap), [this] { return woken_; });
      }
    } else if (jobs_.empty() && arrived_.empty()) {
      wake_.wait(lock, due);
    }
    woken_ = false;
    arrived.swap(arrived_);
    if (life_ == Life::kClosing) {
      now = nowNanos();
      if (jobs_.empty() && arrived.empty()) return false;
      overdue = now >= closeNanos_;
      stuck = overdue && now - closeNanos_ >= quietNanos_;
    }
  }
  for (auto& job : arrived) admit(std::move(job));
  if (stuck) {
    abandon();
  } else if (overdue) {
    endAll(Status::kCancelled);
  }
  return true;
}

void DeviceCopies::admit(std::unique_ptr<Job> job) {
  Job* raw = job.get();
  earliestDeadline_ = std::min(earliestDeadline_, raw->deadline);
  jobs_.emplace(raw->ticket, std::move(job));
  if (raw->isBegun()) {
    finish(raw);  // there is nothing to move
  } else {
    queues_[raw->onboard ? 0 : 1].push_back(raw);
  }
}

void DeviceCopies::applyCancels() {
  std::unordered_set<uint64_t> cancels;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!arrived_.empty()) return;  // each is for a request that is known here, or has ended
    cancels.swap(cancels_);
  }
  for (uint64_t ticket : cancels) {
    auto found = jobs_.find(ticket);
    if (found != jobs_.end()) end(found->second.get(), Status::kCancelled);
  }
}

void DeviceCopies::endExpired(uint64_t now) {
  if (now < earliestDeadline_) return;
  earliestDeadline_ = kNever;
  std::vector<Job*> late;
  for (auto& [ticket, job] : jobs_) {
    if (job->status != Status::kOk) continue;
    if (now >= job->deadline) {
      late.push_back(job.get());
    } else {
      earliestDeadline_ = std::min(earliestDeadline_, job->deadline);
    }
  }
  for (Job* job : late) end(job, Status::kTimeout);
}

void DeviceCopies::endAll(Status status) {
  std::vector<Job*> all;
  for (auto& [ticket, job] : jobs_) all.push_back(job.get());
  for (Job* job : all) end(job, status);
}

/// Begins nothing more of a job; it is over when the device has let go of what was begun.
void DeviceCopies::end(Job* job, Status status) {
  if (job->status != Status::kOk) return;
  job->status = status;
  auto& queue = queues_[job->onboard ? 0 : 1];
  queue.erase(std::remove(queue.begin(), queue.end(), job), queue.end());
  settle(job);
}

void DeviceCopies::settle(Job* job) {
  if (job->flying == 0 && (job->status != Status::kOk || job->isBegun())) finish(job);
}

void DeviceCopies::finish(Job* job) {
  auto found = jobs_.find(job->ticket);
  Completion completion{job->ticket, job->status, job->moved};
  jobs_.erase(found);  // whoever sees the completion finds the regions free
  (completion.status == Status::kOk ? completed_ : failed_).fetch_add(1, std::memory_order_relaxed);
  std::lock_guard<std::mutex> lock(mutex_);
  open_.erase(completion.ticket);
  completions_.push_back(completion);
  ended_.notify_all();
}

/// Takes parts whose end has come. Returns whether there were any.
bool DeviceCopies::poll() {
  bool any = false;
  for (Lane& lane : lanes_) {
    while (!lane.parts.empty()) {
      Part part = lane.parts.front();
      Result result = device_->functions().eventQuery(part.event);
      if (result == kNotReady) break;
      if (result != kSuccess) {
        // Whether memory is still in use cannot be known any more.
        device_->lose("cuEventQuery: " + device_->driver().describe(result));
        return true;
      }
      any = true;
      lane.parts.pop_front();
      idleEvents_.push_back(part.event);
      if (launches_ != nullptr) launches_->giveBack(part.list);
      flyingParts_--;
      flyingBytes_ -= part.bytes;
      part.job->flying--;
      part.job->moved += part.bytes;
      bytes_.fetch_add(part.bytes, std::memory_order_relaxed);
      settle(part.job);
    }
  }
  return any;
}

DeviceCopies::Job* DeviceCopies::nextJob() {
  for (auto& queue : queues_) {
    if (!queue.empty()) return queue.front();
  }
  return nullptr;
}

void DeviceCopies::issue() {
  while (flyingParts_ < kFlyingParts && flyingBytes_ < kFlyingBytes) {
    if (launches_ != nullptr && !launches_->hasList()) return;
    Job* job = nextJob();
    if (job == nullptr) return;
    uint64_t now = nowNanos();
    bool isOver = (job->from.block != nullptr && job->from.block->isOver(now)) ||
                  (job->to.block != nullptr && job->to.block->isOver(now));
    if (isOver) {
      end(job, Status::kStale);
      continue;
    }
    issuePart(job);
    if (device_->isLost()) return;
  }
}

/// Hands the next part of a job to the driver.
void DeviceCopies::issuePart(Job* job) {
  bool outwards = job->from.place == Place::kDevice && job->to.place != Place::kDevice;
  size_t way = outwards ? 0 : 1;
  Lane& lane = lanes_[way * kLanesPerWay + nextLane_[way]++ % kLanesPerWay];
  Result result = kSuccess;
  Event* event = takeEvent(&result);
  if (event == nullptr) {
    end(job, device_->failed("cuEventCreate", result));
    return;
  }
  Part part{job, event, 0, Launches::kNone};
  result = job->permutes ? launchPart(job, lane, &part) : copyPart(job, lane.stream, &part);
  Result recorded = device_->functions().eventRecord(event, lane.stream);
  if (recorded != kSuccess) {
    device_->lose("cuEventRecord: " + device_->driver().describe(recorded));
    return;
  }
  // A failed part, too, may have begun: it is over when its event is.
  if (result != kSuccess) part.bytes = 0;
  lane.parts.push_back(part);
  flyingParts_++;
  flyingBytes_ += part.bytes;
  job->flying++;
  idleSince_ = nowNanos();
  if (result != kSuccess) {
    end(job, device_->failed(job->permutes ? "cuLaunchKernel" : "copying", result));
  } else if (job->isBegun()) {
    auto& queue = queues_[job->onboard ? 0 : 1];
    queue.pop_front();
  }
}

Event* DeviceCopies::takeEvent(Result* result) {
  Event* event = nullptr;
  if (idleEvents_.empty()) {
    *result = device_->functions().eventCreate(&event, kEventBlockingSync | kEventWithoutTiming);
    return *result == kSuccess ? event : nullptr;
  }
  event = idleEvents_.back();
  idleEvents_.pop_back();
  return event;
}

Result DeviceCopies::launchPart(Job* job, Lane& lane, Part* part) {
  size_t count = std::min(Launches::blocksOfLaunch(job->shape), job->blocks.size() - job->next);
  part->bytes = job->shape.runBytes * count;
  for (uint64_t size : job->shape.sizes) part->bytes *= size;
  Result result = launches_->permute(job->shape, &job->blocks[job->next], count, job->from.kernelAddress,
                                     job->to.kernelAddress, lane.stream, &part->list);
  job->next += count;
  parts_[static_cast<size_t>(Method::kKernel)].fetch_add(1, std::memory_order_relaxed);
  return result;
}

Result DeviceCopies::copyPart(Job* job, Stream* stream, Part* part) {
  bool pageable = job->from.place == Place::kPageable || job->to.place == Place::kPageable;
  part->bytes =
      takePart(job->ranges, pageable ? kPageablePartBytes : kPartBytes, &job->next, &job->within, &part_);
  Method method = chooseMethod(job->from.place, job->to.place, part_.size(), part->bytes,
                               {batches_, launches_ != nullptr});
  Result result = kSuccess;
  if (method == Method::kBatch) {
    result = copyBatched(*job, stream);
    if (result == kNotSupported || result == kInvalidValue) {
      batches_ = false;  // what it has copied is copied again: the ranges do not overlap
      method = Method::kSingle;
    }
  }
  if (method == Method::kKernel) {
    result = launches_->copy(part_, job->from.kernelAddress, job->to.kernelAddress, stream, &part->list);
  } else if (method == Method::kSingle) {
    result = copySingly(*job, stream);
  }
  parts_[static_cast<size_t>(method)].fetch_add(1, std::memory_order_relaxed);
  return result;
}

Result DeviceCopies::copySingly(const Job& job, Stream* stream) {
  for (const CopyRange& piece : part_) {
    Result result = device_->functions().memcpyAsync(job.to.address + piece.target,
                                                     job.from.address + piece.source, piece.length, stream);
    if (result != kSuccess) return result;
  }
  return kSuccess;
}

Result DeviceCopies::copyBatched(const Job& job, Stream* stream) {
  targets_.clear();
  sources_.clear();
  sizes_.clear();
  for (const CopyRange& piece : part_) {
    targets_.push_back(job.to.address + piece.target);
    sources_.push_back(job.from.address + piece.source);
    sizes_.push_back(piece.length);
  }
  CopyAttributes attributes{};
  attributes.sourceAccessOrder = kAccessInStreamOrder;
  size_t first = 0;
  const Functions& call = device_->functions();
  if (call.memcpyPlainBatchAsync != nullptr) {
    return call.memcpyPlainBatchAsync(targets_.data(), sources_.data(), sizes_.data(), sizes_.size(),
                                      &attributes, &first, 1, stream);
  }
  size_t failed = 0;
  return call.memcpyBatchAsync(targets_.data(), sources_.data(), sizes_.data(), sizes_.size(), &attributes,
                               &first, 1, &failed, stream);
}

/// Ends everything: a lost device touches no memory any more.
void DeviceCopies::loseAll() {
  for (Lane& lane : lanes_) {
    for (Part& part : lane.parts) part.job->flying--;
    lane.parts.clear();
  }
  flyingParts_ = 0;
  flyingBytes_ = 0;
  for (auto& queue : queues_) queue.clear();
  std::vector<Job*> all;
  for (auto& [ticket, job] : jobs_) all.push_back(job.get());
  for (Job* job : all) {
    job->status = Status::kDeviceLost;
    finish(job);
  }
}

/// Gives up a device that does not answer. It may still touch the regions of what it was given: they are
/// never freed, for the price of their bytes.
void DeviceCopies::abandon() {
  static std::mutex& keeping = *new std::mutex;
  static auto& kept = *new std::vector<std::unique_ptr<Job>>;
  device_->giveUp("it did not end its copies in time after a close");
  for (auto& [ticket, job] : jobs_) {
    if (job->flying == 0) continue;
    auto hull = std::make_unique<Job>();  // the completion is this one's, the pins stay with the other one
    hull->ticket = ticket;
    hull->status = Status::kDeviceLost;
    std::lock_guard<std::mutex> lock(keeping);
    kept.push_back(std::exchange(job, std::move(hull)));
  }
  for (Lane& lane : lanes_) {
    lane.parts.clear();
    lane.stream = nullptr;  // destroying it would wait for its copies
  }
  (void)launches_.release();  // its lists may still be read
  // loseAll() follows, and finds no part
}

}  // namespace dynamo::cuda
