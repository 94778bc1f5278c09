#include "disk_io.h"

#include <unistd.h>

#include <cerrno>
#include <thread>

#include "clock.h"
#include "disk_queue.h"
#include "disk_ring.h"

namespace dynamo {
namespace {

constexpr size_t kThreads = 4;

/// The way without io_uring: threads that wait for the disk.
class ThreadDiskIo final : public DiskQueue {
 public:
  ThreadDiskIo() {
    try {
      for (size_t i = 0; i < kThreads; i++) threads_.emplace_back([this] { run(); });
    } catch (...) {
      close();  // a thread that runs must be joined before it is destroyed
      throw;
    }
  }
  ~ThreadDiskIo() override { close(); }

  Way way() const override { return Way::kThreads; }

  void close() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      markClosed();
      arrived_.notify_all();
    }
    std::lock_guard<std::mutex> lock(joining_);
    for (auto& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 protected:
  void wake() override { arrived_.notify_one(); }

 private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      arrived_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      Job job = waiting_.front();
      waiting_.pop_front();
      Status status = Status::kBusy;
      while (status == Status::kBusy) {
        status = endOf(job, nowNanos());
        if (status != Status::kOk) break;
        lock.unlock();
        status = advance(job, move(job));
        lock.lock();
      }
      finish(job, status);
    }
  }

  static int64_t move(const Job& job) {
    const Request& request = job.request;
    auto at = static_cast<off_t>(request.offset + job.done);
    std::byte* memory = request.memory + job.done;
    int fd = request.file->descriptor();
    ssize_t length =
        request.write ? pwrite(fd, memory, pieceOf(job), at) : pread(fd, memory, pieceOf(job), at);
    return length < 0 ? -int64_t{errno} : length;
  }

  std::mutex joining_;
  std::vector<std::thread> threads_;
};

}  // namespace

Status DiskIo::open(Way way, std::unique_ptr<DiskIo>* opened, const char** why) {
  *why = "";
  if (way != Way::kThreads) {
    int error = 0;
    *opened = openRingDiskIo(&error);
    if (*opened != nullptr) return Status::kOk;
    *why = error == EPERM    ? "io_uring is forbidden here (EPERM)"
           : error == ENOSYS ? "this kernel has no io_uring (ENOSYS)"
                             : "io_uring cannot be set up here";
    if (way == Way::kRing) return Status::kIo;
  }
  *opened = std::make_unique<ThreadDiskIo>();
  return Status::kOk;
}

}  // namespace dynamo
