#include "fake_device.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace fakecuda {

FakeStream* FakeDevice::createStream() {
  std::lock_guard<std::mutex> lock(mutex_);
  start();
  streams_.push_back(std::make_unique<FakeStream>());
  return streams_.back().get();
}

bool FakeDevice::isStream(FakeStream* stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(streams_.begin(), streams_.end(),
                     [stream](const auto& one) { return one.get() == stream; });
}

bool FakeDevice::destroyStream(FakeStream* stream) {
  if (!isStream(stream)) return false;
  synchronize(stream);
  std::lock_guard<std::mutex> lock(mutex_);
  streams_.erase(std::remove_if(streams_.begin(), streams_.end(),
                                [stream](const auto& one) { return one.get() == stream; }),
                 streams_.end());
  return true;
}

FakeEvent* FakeDevice::createEvent() {
  std::lock_guard<std::mutex> lock(mutex_);
  return *events_.insert(new FakeEvent).first;
}

bool FakeDevice::isEvent(FakeEvent* event) {
  std::lock_guard<std::mutex> lock(mutex_);
  return events_.count(event) != 0;
}

bool FakeDevice::destroyEvent(FakeEvent* event) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (events_.erase(event) == 0) return false;
  if (event->pending == 0) delete event;  // else its work still names it
  return true;
}

int FakeDevice::query(FakeEvent* event) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (sticky_ != 0) return sticky_;
  return event->pending == 0 ? 0 : 600;
}

void FakeDevice::submit(FakeStream* stream, Work work) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (work.event != nullptr) work.event->pending++;
  stream->works.push_back(std::move(work));
  changed_.notify_all();
}

void FakeDevice::synchronize(FakeStream* stream) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this, stream] {
    return std::all_of(streams_.begin(), streams_.end(), [stream](const auto& one) {
      return (stream != nullptr && one.get() != stream) || one->works.empty();
    });
  });
}

bool FakeDevice::isBusy(uint64_t address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (sticky_ != 0) return false;  // nothing is done any more
  for (const auto& stream : streams_) {
    for (const auto& work : stream->works) {
      for (const auto& [begin, length] : work.touches) {
        if (begin < address + bytes && address < begin + length) return true;
      }
    }
  }
  return false;
}

bool FakeDevice::hasWork() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& one) { return !one->works.empty(); });
}

void FakeDevice::allow(int64_t works) {
  std::lock_guard<std::mutex> lock(mutex_);
  allowed_ = works;
  changed_.notify_all();
}

void FakeDevice::failWork(int nth, int error) {
  std::lock_guard<std::mutex> lock(mutex_);
  failIn_ = nth;
  failure_ = error;
}

int FakeDevice::stickyError() {
  std::lock_guard<std::mutex> lock(mutex_);
  return sticky_;
}

void FakeDevice::setStickyError(int error) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (sticky_ == 0) sticky_ = error;
  changed_.notify_all();
}

size_t FakeDevice::live() {
  std::lock_guard<std::mutex> lock(mutex_);
  return streams_.size() + events_.size();
}

void FakeDevice::reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  allowed_ = -1;
  failIn_ = 0;
  sticky_ = 0;
  changed_.notify_all();
}

void FakeDevice::end() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !running_; });
  streams_.clear();
  for (FakeEvent* event : events_) delete event;
  events_.clear();
  sticky_ = 0;
}

/// The caller has the lock.
void FakeDevice::start() {
  if (started_) return;
  started_ = true;
  std::thread([this] { work(); }).detach();  // as long as the process, like this object
}

/// The next stream with something to do, in turn; null for none. The caller has the lock.
FakeStream* FakeDevice::next() {
  if (allowed_ == 0 && sticky_ == 0) return nullptr;
  for (size_t i = 0; i < streams_.size(); i++) {
    FakeStream* stream = streams_[(turn_ + i) % streams_.size()].get();
    if (stream->works.empty()) continue;
    turn_ = (turn_ + i + 1) % streams_.size();
    return stream;
  }
  return nullptr;
}

void FakeDevice::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    FakeStream* stream = nullptr;
    changed_.wait(lock, [&] { return (stream = next()) != nullptr; });
    Work& work = stream->works.front();
    int error = sticky_;
    if (error == 0 && work.run) {
      if (allowed_ > 0) allowed_--;
      if (failIn_ > 0 && --failIn_ == 0) {
        error = failure_;
      } else {
        running_ = true;
        lock.unlock();  // the front stays where it is while others add behind it
        error = work.run();
        lock.lock();
        running_ = false;
      }
      if (error != 0 && sticky_ == 0) sticky_ = error;
    }
    FakeEvent* event = work.event;
    if (event != nullptr && --event->pending == 0 && events_.count(event) == 0) delete event;
    stream->works.pop_front();
    changed_.notify_all();
  }
}

}  // namespace fakecuda
