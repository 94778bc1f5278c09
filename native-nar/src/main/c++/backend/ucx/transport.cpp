#include "transport.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "../../core/clock.h"
#include "../../core/shared_memory.h"
#include "library.h"
#include "session.h"

namespace dynamo::ucx {
namespace {

constexpr uint64_t kSpinNanos = 20'000;  // before the thread waits for a descriptor
constexpr uint64_t kLongestRestNanos = 1'000'000'000;

std::chrono::nanoseconds bounded(uint64_t nanos) {
  return std::chrono::nanoseconds(std::min(nanos, uint64_t{3600} * 1'000'000'000u));
}

/// Leaves the process's signals to the JVM's threads; the library's threads inherit that.
void leaveSignalsAlone() {
  sigset_t all;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

struct Transport::State final : Listener {
  State(Plan given, RegionTable& regions)
      : plan(std::move(given)), table(regions), wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    tickets.insert(kOpenTicket);
  }

  void ended(Event event) override {
    std::lock_guard<std::mutex> lock(mutex);
    tickets.erase(event.ticket);
    events.push_back(std::move(event));
    arrived.notify_one();
  }

  void run();
  void serve(Session& session);
  void rest(Session& session, uint64_t now);
  void wakeUp() {
    const uint64_t one = 1;
    while (write(wake.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
  }

  const Plan plan;
  RegionTable& table;
  const UniqueFd wake;
  std::mutex mutex;
  std::condition_variable arrived;  ///< who awaits events
  std::condition_variable over;     ///< who closes
  std::deque<Command> commands;
  std::unordered_set<uint64_t> cancels;
  std::unordered_set<uint64_t> tickets;  ///< of commands that have not ended
  std::deque<Event> events;
  bool isClosing = false;
  bool isOver = false;
};

void Transport::State::run() {
  leaveSignalsAlone();
  Event opened{kOpenTicket, Status::kBackend, 0, 0, ""};
  try {
    if (const Library* library = openLibrary(plan.candidates, &opened.text)) {
      opened.text.clear();
      Session session(*library, table, *this);
      if (wake.isOpen() && session.open(plan, &opened.text)) {
        ended({kOpenTicket, Status::kOk, 0, 0, library->path + ", version " + library->version});
        serve(session);
      } else {
        opened.status = Status::kUnsupported;
        ended(std::move(opened));
      }
      session.close();
    } else {
      opened.status = Status::kIo;
      ended(std::move(opened));
    }
  } catch (...) {
    // Out of memory: what has not ended ends below.
  }
  std::lock_guard<std::mutex> lock(mutex);
  isClosing = true;
  commands.clear();
  for (uint64_t ticket : tickets) {
    events.push_back({ticket, ticket == kOpenTicket ? Status::kNoMemory : Status::kCancelled, 0, 0, ""});
  }
  tickets.clear();
  isOver = true;
  arrived.notify_all();
  over.notify_all();
}

void Transport::State::serve(Session& session) {
  uint64_t lastProgress = nowNanos();
  while (true) {
    std::deque<Command> taken;
    std::unordered_set<uint64_t> given;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (isClosing) return;
      taken.swap(commands);
      given.swap(cancels);
    }
    for (Command& command : taken) {
      if (std::holds_alternative<Write>(command.what) && given.count(command.ticket) > 0) {
        ended({command.ticket, Status::kCancelled, 0, 0, ""});
      } else {
        session.execute(std::move(command));
      }
    }
    for (uint64_t ticket : given) session.cancel(ticket);
    uint64_t now = nowNanos();
    if (session.progress(now) || !taken.empty() || !given.empty()) {
      lastProgress = now;
    } else if (now - lastProgress >= kSpinNanos && session.arm()) {
      rest(session, now);
    }
  }
}

/// Waits until there is something to do.
void Transport::State::rest(Session& session, uint64_t now) {
  std::vector<pollfd> all{{wake.get(), POLLIN, 0}};
  for (int descriptor : session.descriptors()) all.push_back({descriptor, POLLIN, 0});
  uint64_t next = session.nextLook(now);
  uint64_t nanos = next <= now ? 0 : std::min(next - now, kLongestRestNanos);
  timespec limit{static_cast<time_t>(nanos / 1'000'000'000u), static_cast<long>(nanos % 1'000'000'000u)};
  ppoll(all.data(), all.size(), &limit, nullptr);
  uint64_t woken = 0;
  while (read(wake.get(), &woken, sizeof woken) < 0 && errno == EINTR) {
  }
}

std::shared_ptr<Transport> Transport::open(Plan plan, RegionTable& table) {
  auto state = std::make_shared<State>(std::move(plan), table);
  std::thread([state] { state->run(); }).detach();
  return std::shared_ptr<Transport>(new Transport(std::move(state)));
}

Transport::~Transport() { close(0); }

Status Transport::submit(Command command) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->isClosing) return Status::kStale;
  bool isFull = state_->tickets.size() + state_->events.size() >= kMostCommands;
  if (isFull && !std::holds_alternative<EndLease>(command.what)) return Status::kBusy;
  if (!state_->tickets.insert(command.ticket).second) return Status::kInvalid;
  uint64_t ticket = command.ticket;
  try {
    state_->commands.push_back(std::move(command));
  } catch (...) {
    state_->tickets.erase(ticket);
    throw;
  }
  state_->wakeUp();
  return Status::kOk;
}

void Transport::cancel(uint64_t ticket) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->tickets.count(ticket) == 0) return;
  state_->cancels.insert(ticket);
  state_->wakeUp();
}

Status Transport::await(uint64_t maxNanos, Event* event) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->arrived.wait_for(lock, bounded(maxNanos),
                           [this] { return !state_->events.empty() || state_->isOver; });
  if (state_->events.empty()) return state_->isOver ? Status::kStale : Status::kTimeout;
  *event = std::move(state_->events.front());
  state_->events.pop_front();
  return Status::kOk;
}

bool Transport::close(uint64_t maxNanos) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->isClosing = true;
  state_->wakeUp();
  return state_->over.wait_for(lock, bounded(maxNanos), [this] { return state_->isOver; });
}

}  // namespace dynamo::ucx
