#include "disk_ring.h"

#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "clock.h"
#include "disk_queue.h"

namespace dynamo {
namespace {

constexpr uint32_t kDepth = 64;     // pieces that the kernel works on
constexpr uint32_t kEntries = 256;  // each of them may have a cancel, and there is the wake-up
constexpr uint64_t kWake = ~uint64_t{0};
constexpr uint64_t kCancel = ~uint64_t{0} - 1;

/// The two queues that this process shares with the kernel. Used by one thread.
class Ring {
 public:
  ~Ring() {
    if (queues_ != MAP_FAILED) munmap(queues_, queueBytes_);
    if (entries_ != MAP_FAILED) munmap(entries_, entryBytes_);
  }

  /// Returns 0, or the error of the kernel; ENOSYS also for one that lacks what is used here (before 5.11).
  int open() {
    io_uring_params params{};
    fd_ = UniqueFd(static_cast<int>(syscall(SYS_io_uring_setup, kEntries, &params)));
    if (!fd_.isOpen()) return errno;
    constexpr uint32_t kNeeded = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_EXT_ARG;
    if ((params.features & kNeeded) != kNeeded) return ENOSYS;
    queueBytes_ = std::max<size_t>(params.sq_off.array + params.sq_entries * sizeof(uint32_t),
                                   params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe));
    queues_ = mmap(nullptr, queueBytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_.get(),
                   IORING_OFF_SQ_RING);
    if (queues_ == MAP_FAILED) return errno;
    entryBytes_ = params.sq_entries * sizeof(io_uring_sqe);
    entries_ = mmap(nullptr, entryBytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_.get(),
                    IORING_OFF_SQES);
    if (entries_ == MAP_FAILED) return errno;
    submitHead_ = word(params.sq_off.head);
    submitTail_ = word(params.sq_off.tail);
    submitMask_ = *reinterpret_cast<uint32_t*>(at(params.sq_off.ring_mask));
    submitArray_ = reinterpret_cast<uint32_t*>(at(params.sq_off.array));
    doneHead_ = word(params.cq_off.head);
    doneTail_ = word(params.cq_off.tail);
    doneMask_ = *reinterpret_cast<uint32_t*>(at(params.cq_off.ring_mask));
    done_ = reinterpret_cast<io_uring_cqe*>(at(params.cq_off.cqes));
    return 0;
  }

  /// Adds an entry; the kernel sees it at the next enter(). False when the queue is full.
  bool push(const io_uring_sqe& entry) {
    uint32_t tail = submitTail_->load(std::memory_order_relaxed);
    if (tail - submitHead_->load(std::memory_order_acquire) > submitMask_) return false;
    uint32_t index = tail & submitMask_;
    static_cast<io_uring_sqe*>(entries_)[index] = entry;
    submitArray_[index] = index;
    submitTail_->store(tail + 1, std::memory_order_release);
    unseen_++;
    return true;
  }

  /// Hands the entries over, and waits for a completion or `nanos`. Returns 0 or an error.
  int enter(uint64_t nanos) {
    __kernel_timespec time{static_cast<int64_t>(nanos / 1'000'000'000),
                           static_cast<long long>(nanos % 1'000'000'000)};
    io_uring_getevents_arg arg{};
    arg.ts = reinterpret_cast<uint64_t>(&time);
    long taken = syscall(SYS_io_uring_enter, fd_.get(), unseen_, 1,
                         IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof arg);
    int error = taken < 0 ? errno : 0;
    unseen_ = submitTail_->load(std::memory_order_relaxed) - submitHead_->load(std::memory_order_acquire);
    return error == ETIME || error == EINTR || error == EBUSY || error == EAGAIN ? 0 : error;
  }

  bool pop(io_uring_cqe* completion) {
    uint32_t head = doneHead_->load(std::memory_order_relaxed);
    if (head == doneTail_->load(std::memory_order_acquire)) return false;
    *completion = done_[head & doneMask_];
    doneHead_->store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  char* at(uint32_t offset) { return static_cast<char*>(queues_) + offset; }
  std::atomic<uint32_t>* word(uint32_t offset) {
    static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "the kernel's words are plain");
    return reinterpret_cast<std::atomic<uint32_t>*>(at(offset));
  }

  UniqueFd fd_;
  void* queues_ = MAP_FAILED;
  void* entries_ = MAP_FAILED;
  size_t queueBytes_ = 0;
  size_t entryBytes_ = 0;
  std::atomic<uint32_t>* submitHead_ = nullptr;
  std::atomic<uint32_t>* submitTail_ = nullptr;
  std::atomic<uint32_t>* doneHead_ = nullptr;
  std::atomic<uint32_t>* doneTail_ = nullptr;
  uint32_t* submitArray_ = nullptr;
  io_uring_cqe* done_ = nullptr;
  uint32_t submitMask_ = 0;
  uint32_t doneMask_ = 0;
  uint32_t unseen_ = 0;
};

class RingDiskIo final : public DiskQueue {
 public:
  ~RingDiskIo() override { close(); }

  int open() {
    wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_.isOpen()) return errno;
    int error = ring_.open();
    if (error != 0) return error;
    thread_ = std::thread([this] { run(); });
    return 0;
  }

  Way way() const override { return Way::kRing; }

  void close() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      markClosed();
      if (wake_.isOpen()) wake();
    }
    std::lock_guard<std::mutex> lock(joining_);
    if (thread_.joinable()) thread_.join();
  }

 protected:
  void wake() override {
    uint64_t one = 1;
    while (write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
  }

 private:
  struct Slot {
    Job job;
    bool used = false;
    bool inKernel = false;
    bool cancelling = false;
    Status end = Status::kOk;  // what it comes to when the kernel has let go of it
  };

  void run() {
    bool watching = false;
    for (;;) {
      if (!watching) watching = watch();
      uint64_t until = 0;
      if (!prepare(&until)) return;
      uint64_t now = nowNanos();
      int error = ring_.enter(until > now ? until - now : 0);
      if (error != 0) {  // nothing that can be done about it: try again, slowly
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      io_uring_cqe completion;
      while (ring_.pop(&completion)) {
        if (completion.user_data == kWake) {
          uint64_t count;
          while (read(wake_.get(), &count, sizeof count) < 0 && errno == EINTR) {
          }
          watching = false;
        } else if (completion.user_data != kCancel) {
          completed(slots_[completion.user_data], completion.res);
        }
      }
    }
  }

  bool watch() {
    io_uring_sqe entry{};
    entry.opcode = IORING_OP_POLL_ADD;
    entry.fd = wake_.get();
    entry.poll32_events = POLLIN;
    entry.user_data = kWake;
    return ring_.push(entry);
  }

  /// Fills the queue, ends what must not go on, and finds the next deadline. False when all has ended.
  bool prepare(uint64_t* until) {
    std::lock_guard<std::mutex> lock(mutex_);
    uint64_t now = nowNanos();
    *until = now + uint64_t{3600} * 1'000'000'000;
    size_t used = 0;
    for (size_t i = 0; i < kDepth; i++) {
      Slot& slot = slots_[i];
      if (!slot.used && !take(slot)) continue;
      if (slot.end == Status::kOk) slot.end = endOf(slot.job, now);
      if (slot.end != Status::kOk && !slot.inKernel) {
        finish(slot.job, slot.end);
        slot = Slot();
        i--;  // another one may take its place
        continue;
      }
      used++;
      if (!slot.inKernel) {
        slot.inKernel = pushPiece(slot, i);
      } else if (slot.end != Status::kOk && !slot.cancelling) {
        slot.cancelling = pushCancel(i);
      }
      uint64_t deadline = slot.job.request.deadlineNanos;
      if (slot.end == Status::kOk && deadline != 0) *until = std::min(*until, deadline);
    }
    return used != 0 || !closed_;
  }

  bool take(Slot& slot) {
    if (waiting_.empty()) return false;
    slot.job = waiting_.front();
    slot.used = true;
    waiting_.pop_front();
    return true;
  }

  bool pushPiece(const Slot& slot, size_t index) {
    const Request& request = slot.job.request;
    io_uring_sqe entry{};
    entry.opcode = request.write ? IORING_OP_WRITE : IORING_OP_READ;
    entry.fd = request.file->descriptor();
    entry.off = request.offset + slot.job.done;
    entry.addr = reinterpret_cast<uint64_t>(request.memory + slot.job.done);
    entry.len = static_cast<uint32_t>(pieceOf(slot.job));
    entry.user_data = index;
    return ring_.push(entry);
  }

  bool pushCancel(size_t index) {
    io_uring_sqe entry{};
    entry.opcode = IORING_OP_ASYNC_CANCEL;
    entry.addr = index;
    entry.user_data = kCancel;
    return ring_.push(entry);
  }

  void completed(Slot& slot, int result) {
    slot.inKernel = false;
    slot.cancelling = false;
    Status status = advance(slot.job, result);
    std::lock_guard<std::mutex> lock(mutex_);
    if (status == Status::kBusy) return;                                             // the next piece
    if (status == Status::kCancelled && slot.end != Status::kOk) status = slot.end;  // why it was given up
    finish(slot.job, status);
    slot = Slot();
  }

  Ring ring_;
  UniqueFd wake_;
  std::array<Slot, kDepth> slots_;
  std::mutex joining_;
  std::thread thread_;  // guarded by joining_ after the start
};

}  // namespace

std::unique_ptr<DiskIo> openRingDiskIo(int* error) {
  auto made = std::make_unique<RingDiskIo>();
  *error = made->open();
  if (*error != 0) return nullptr;
  return made;
}

}  // namespace dynamo
