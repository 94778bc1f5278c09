#ifndef DYNAMO_TEST_FAKE_CUDA_FAKE_DEVICE_H_
#define DYNAMO_TEST_FAKE_CUDA_FAKE_DEVICE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "fake_memory.h"
#include "ptx.h"

namespace fakecuda {

struct FakeEvent {
  uint64_t pending = 0;  // records that have not been reached
};

/// Work of a stream. It touches memory from its submission to its end.
struct Work {
  std::function<int()> run;  // 0, or the error of a GPU
  FakeEvent* event = nullptr;
  std::vector<std::pair<uint64_t, size_t>> touches;
};

struct FakeStream {
  std::deque<Work> works;
};

/// The fake GPU: a thread that does the work of streams, each in order, with an end that is seen later. It
/// can be held, work by work, and its work can be made to fail. Safe for concurrent use.
class FakeDevice {
 public:
  FakeStream* createStream();
  bool destroyStream(FakeStream* stream);
  bool isStream(FakeStream* stream);
  FakeEvent* createEvent();
  bool destroyEvent(FakeEvent* event);
  bool isEvent(FakeEvent* event);
  /// 0, or 600 while work before the last record is left.
  int query(FakeEvent* event);

  void submit(FakeStream* stream, Work work);
  /// Waits until the streams are empty; null is for all of them.
  void synchronize(FakeStream* stream);
  /// Whether submitted work touches a range.
  bool isBusy(uint64_t address, size_t bytes);

  bool hasWork();

  /// Lets so many works be done, or all with -1.
  void allow(int64_t works);
  /// Makes the n-th work from now on fail.
  void failWork(int nth, int error);
  /// The error that the context has met, which it never recovers from; 0 for none.
  int stickyError();
  void setStickyError(int error);
  size_t live();
  void reset();
  /// Ends the context: what is queued, streams, events and the error that it met are gone.
  void end();

 private:
  void start();
  void work();
  FakeStream* next();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool started_ = false;
  bool running_ = false;
  std::vector<std::unique_ptr<FakeStream>> streams_;
  std::set<FakeEvent*> events_;
  size_t turn_ = 0;
  int64_t allowed_ = -1;
  int failIn_ = 0;
  int failure_ = 0;
  int sticky_ = 0;
};

}  // namespace fakecuda

#endif  // DYNAMO_TEST_FAKE_CUDA_FAKE_DEVICE_H_
