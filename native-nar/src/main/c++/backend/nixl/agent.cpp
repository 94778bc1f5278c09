#include "agent.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "library.h"
#include "session.h"

namespace dynamo::nixl {
namespace {

constexpr auto kShortestRest = std::chrono::microseconds(20);
constexpr auto kLongestRest = std::chrono::milliseconds(1);       // while bytes move
constexpr auto kLongestWatchRest = std::chrono::milliseconds(2);  // while notifications may come
constexpr auto kIdleRest = std::chrono::seconds(1);               // drops notifications that nobody expects

uint64_t monotonicNanos() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

/// Leaves the process's signals to the JVM's threads; the library's threads inherit that.
void leaveSignalsAlone() {
  sigset_t all;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

struct Agent::State final : Listener {
  explicit State(AgentPlan given) : plan(std::move(given)) { phases[kOpenTicket] = Phase::kQueued; }

  void ended(Event event) override {
    std::lock_guard<std::mutex> lock(mutex);
    phases.erase(event.ticket);
    events.push_back(std::move(event));
    arrived.notify_one();
  }

  void reached(uint64_t ticket, Phase phase) override {
    std::lock_guard<std::mutex> lock(mutex);
    phases[ticket] = phase;
  }

  void run();
  void serve(Session& session);

  const AgentPlan plan;
  std::mutex mutex;
  std::condition_variable wake;     ///< the thread
  std::condition_variable arrived;  ///< who awaits events
  std::condition_variable over;     ///< who closes
  std::deque<Command> commands;
  std::unordered_set<uint64_t> cancels;
  std::unordered_map<uint64_t, Phase> phases;  ///< of commands that have not ended
  std::deque<Event> events;
  bool isClosing = false;
  bool isOver = false;
};

void Agent::State::run() {
  leaveSignalsAlone();
  Event opened{kOpenTicket, Status::kBackend, 0, 0, ""};
  try {
    if (const Library* library = openLibrary(plan.candidates, plan.pluginFolder, &opened.text)) {
      opened.text.clear();
      Session session(*library, *this);
      if (session.open(plan, &opened.text)) {
        opened.status = Status::kOk;
        ended(std::move(opened));
        opened = {};
        serve(session);
      } else {
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
  for (const auto& [ticket, phase] : phases) {
    events.push_back({ticket, ticket == kOpenTicket ? Status::kNoMemory : Status::kCancelled, 0, 0, ""});
  }
  phases.clear();
  isOver = true;
  arrived.notify_all();
  over.notify_all();
}

void Agent::State::serve(Session& session) {
  std::chrono::nanoseconds rest = kShortestRest;
  while (true) {
    std::deque<Command> taken;
    std::unordered_set<uint64_t> given;
    {
      std::unique_lock<std::mutex> lock(mutex);
      auto longest = session.isMoving()     ? std::chrono::nanoseconds(kLongestRest)
                     : session.isWatching() ? std::chrono::nanoseconds(kLongestWatchRest)
                                            : std::chrono::nanoseconds(kIdleRest);
      rest = session.isMoving() || session.isWatching() ? std::min(rest * 2, longest) : longest;
      wake.wait_for(lock, rest, [this] { return isClosing || !commands.empty() || !cancels.empty(); });
      if (isClosing) return;
      taken.swap(commands);
      given.swap(cancels);
    }
    if (!taken.empty()) rest = kShortestRest;
    for (Command& command : taken) {
      // Before its transfer is posted, a cancellation costs nothing.
      bool isGivenUp =
          given.count(command.ticket) > 0 && (std::holds_alternative<Watch>(command.what) ||
                                              std::holds_alternative<TransferOrder>(command.what));
      if (isGivenUp) {
        ended({command.ticket, Status::kCancelled, 0, 0, ""});
      } else {
        session.execute(std::move(command));
      }
    }
    for (uint64_t ticket : given) session.cancel(ticket);
    session.poll(monotonicNanos());
  }
}

std::shared_ptr<Agent> Agent::open(AgentPlan plan) {
  auto state = std::make_shared<State>(std::move(plan));
  std::thread([state] { state->run(); }).detach();
  return std::shared_ptr<Agent>(new Agent(std::move(state)));
}

Agent::~Agent() { close(0); }

Status Agent::submit(Command command) {
  if (auto* order = std::get_if<TransferOrder>(&command.what)) {
    if (order->pieces.size() > kMostPieces) return Status::kInvalid;
  }
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->isClosing) return Status::kStale;
  if (state_->phases.size() + state_->events.size() >= kMostCommands) return Status::kBusy;
  if (!state_->phases.emplace(command.ticket, Phase::kQueued).second) return Status::kInvalid;
  try {
    state_->commands.push_back(std::move(command));
  } catch (...) {
    state_->phases.erase(command.ticket);
    throw;
  }
  state_->wake.notify_one();
  return Status::kOk;
}

void Agent::cancel(uint64_t ticket) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->phases.count(ticket) == 0) return;
  state_->cancels.insert(ticket);
  state_->wake.notify_one();
}

Phase Agent::phase(uint64_t ticket) const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  auto at = state_->phases.find(ticket);
  return at == state_->phases.end() ? Phase::kNone : at->second;
}

Status Agent::await(uint64_t maxNanos, Event* event) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  auto longest = std::chrono::nanoseconds(std::min(maxNanos, uint64_t{3600} * 1'000'000'000u));
  state_->arrived.wait_for(lock, longest, [this] { return !state_->events.empty() || state_->isOver; });
  if (state_->events.empty()) return state_->isOver ? Status::kStale : Status::kTimeout;
  *event = std::move(state_->events.front());
  state_->events.pop_front();
  return Status::kOk;
}

bool Agent::close(uint64_t maxNanos) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->isClosing = true;
  state_->wake.notify_one();
  auto longest = std::chrono::nanoseconds(std::min(maxNanos, uint64_t{3600} * 1'000'000'000u));
  return state_->over.wait_for(lock, longest, [this] { return state_->isOver; });
}

}  // namespace dynamo::nixl
