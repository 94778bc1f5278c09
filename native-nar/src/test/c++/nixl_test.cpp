#include <dlfcn.h>

#include <cstring>
#include <map>
#include <numeric>

#include "../../main/c++/backend/nixl/agent.h"
#include "../../main/c++/backend/nixl/library.h"
#include "../../main/c++/backend/nixl/peers.h"
#include "check.h"

using dynamo::Status;
using dynamo::nixl::Agent;
using dynamo::nixl::AgentPlan;
using dynamo::nixl::Event;
using dynamo::nixl::Phase;

namespace {

const std::string kFakes = DYNAMO_FAKE_NIXL;  // the folder of the libraries, from the build
constexpr uint64_t kLong = uint64_t{60} * 1'000'000'000u;
constexpr uint64_t kPastDeadline = 1;

using Parameters = std::vector<std::pair<std::string, std::string>>;

/// An agent of the fake, used by one thread.
class Side {
 public:
  Side(const std::string& name, const Parameters& parameters)
      : agent_(Agent::open(plan(name, {{"UCX", parameters}}))) {
    CHECK(event(Agent::kOpenTicket).status == Status::kOk);
  }
  ~Side() { CHECK(agent_->close(kLong)); }

  static AgentPlan plan(const std::string& name, const std::vector<AgentPlan::Backend>& backends) {
    return {{kFakes + "/libnixl_capi.so"}, "", name, backends};
  }

  Agent& agent() { return *agent_; }

  template <typename What>
  uint64_t begin(What what) {
    uint64_t ticket = next_++;
    CHECK(agent_->submit({ticket, std::move(what)}) == Status::kOk);
    return ticket;
  }

  /// Waits for the end of a command, and keeps those of others.
  Event event(uint64_t ticket) {
    while (ended_.count(ticket) == 0) {
      Event one;
      CHECK(agent_->await(kLong, &one) == Status::kOk);
      ended_[one.ticket] = one;
    }
    return ended_[ticket];
  }

  bool hasEnded(uint64_t ticket) {
    Event one;
    while (agent_->await(0, &one) == Status::kOk) ended_[one.ticket] = one;
    return ended_.count(ticket) > 0;
  }

  template <typename What>
  Event run(What what) {
    return event(begin(std::move(what)));
  }

  uint64_t registered(void* memory, size_t bytes) {
    Event done = run(dynamo::nixl::Register{0, {reinterpret_cast<uintptr_t>(memory), bytes, 0}});
    CHECK(done.status == Status::kOk);
    return done.number;
  }

 private:
  std::shared_ptr<Agent> agent_;
  uint64_t next_ = 1;
  std::map<uint64_t, Event> ended_;
};

/// Memory of two sides, registered.
struct Pair {
  explicit Pair(const Parameters& parameters, size_t bytes = 1000)
      : one("one", parameters), other("other", {{"none", ""}}), here(bytes), there(bytes) {
    std::iota(here.begin(), here.end(), uint8_t{3});
    mine = one.registered(here.data(), bytes);
    theirs = other.registered(there.data(), bytes);
  }

  dynamo::nixl::TransferOrder order(bool write, uint64_t deadline = 0) {
    return {write,
            0,
            {{mine, reinterpret_cast<uintptr_t>(here.data()), here.size(),
              reinterpret_cast<uintptr_t>(there.data()), 0}},
            other.run(dynamo::nixl::DescribeSelf{}).text,
            "key",
            deadline};
  }

  Side one;
  Side other;
  std::vector<uint8_t> here;
  std::vector<uint8_t> there;
  uint64_t mine = 0;
  uint64_t theirs = 0;
};

void librariesThatCannotBeUsedAreNamedWithTheReason() {
  std::string why;
  CHECK(dynamo::nixl::openLibrary({}, "", &why) == nullptr && !why.empty());
  CHECK(dynamo::nixl::openLibrary({kFakes + "/absent.so"}, "", &why) == nullptr);
  CHECK(why.find("absent.so") != std::string::npos);
  CHECK(dynamo::nixl::openLibrary({kFakes + "/stub.so"}, "", &why) == nullptr);
  CHECK(why.find("is a stub") != std::string::npos);
  CHECK(dynamo::nixl::openLibrary({kFakes + "/incomplete.so"}, "", &why) == nullptr);
  CHECK(why.find("has no nixl_capi_post_xfer_req") != std::string::npos);
  const auto* found =
      dynamo::nixl::openLibrary({kFakes + "/absent.so", kFakes + "/libnixl_capi.so"}, "", &why);
  CHECK(found != nullptr && found == dynamo::nixl::openLibrary({kFakes + "/libnixl_capi.so"}, "", &why));
  CHECK(
      dynamo::nixl::probeLibrary({kFakes + "/libnixl_capi.so"}, "").find("\"plugins\":[\"FAKE\",\"UCX\"]") !=
      std::string::npos);
  CHECK(dynamo::nixl::probeLibrary({kFakes + "/stub.so"}, "").find("\"present\":false") != std::string::npos);
}

/// Opens an agent that cannot work, and returns the event that says so.
Event refusal(AgentPlan plan) {
  auto agent = Agent::open(std::move(plan));
  CHECK(agent->submit({7, dynamo::nixl::DescribeSelf{}}) != Status::kBusy);
  Event opened;
  CHECK(agent->await(kLong, &opened) == Status::kOk && opened.ticket == Agent::kOpenTicket);
  Event next;
  Status status = agent->await(kLong, &next);
  CHECK(status == Status::kStale || (next.ticket == 7 && next.status == Status::kCancelled));
  CHECK(agent->close(kLong) && agent->close(kLong));
  CHECK(agent->submit({8, dynamo::nixl::DescribeSelf{}}) == Status::kStale);
  return opened;
}

void agentsThatCannotWorkSayWhy() {
  CHECK(refusal({{kFakes + "/absent.so"}, "", "a", {{"UCX", {}}}}).status == Status::kIo);
  CHECK(refusal(Side::plan("refused", {{"UCX", {}}})).status == Status::kBackend);
  CHECK(refusal(Side::plan("a", {})).status == Status::kBackend);
  Event absent = refusal(Side::plan("a", {{"GDS", {{"create", "-2"}}}}));
  CHECK(absent.status == Status::kBackend && absent.text.find("GDS is absent") == 0);
  auto agent = Agent::open(Side::plan("a", {{"GDS", {{"create", "-2"}}}, {"UCX", {}}}));
  Event opened;
  CHECK(agent->await(kLong, &opened) == Status::kOk && opened.status == Status::kOk);
  CHECK(opened.text.find("GDS is absent") == 0 && opened.text.find("UCX") == std::string::npos);
}

void bytesMoveBothWaysAndThePeerIsNotified() {
  Pair pair(Parameters{{"polls", "3"}});
  uint64_t watching = pair.other.begin(dynamo::nixl::Watch{"key", 0});
  Event written = pair.one.run(pair.order(true));
  CHECK(written.status == Status::kOk && written.number == 1000 && written.text == "other");
  CHECK(pair.here == pair.there);
  Event heard = pair.other.event(watching);
  CHECK(heard.status == Status::kOk && heard.text == "one");
  pair.there.assign(1000, 9);
  CHECK(pair.one.run(pair.order(false)).status == Status::kOk);
  CHECK(pair.here == pair.there);
  CHECK(pair.one.run(dynamo::nixl::Deregister{pair.mine}).status == Status::kOk);
  CHECK(pair.one.run(dynamo::nixl::Deregister{pair.mine}).status == Status::kStale);
  CHECK(pair.one.run(pair.order(false)).status == Status::kStale);
}

void everyFailureOfTheLibraryEndsTheTransfer() {
  for (const char* step : {"post", "end", "request", "load"}) {
    for (int code : {-1, -2, -3, -4, -5, -6}) {
      Pair pair(Parameters{{step, std::to_string(code)}});
      Event failed = pair.one.run(pair.order(true));
      CHECK(failed.status != Status::kOk && failed.code == code && failed.number == 0);
      CHECK(!failed.text.empty());
      CHECK(pair.one.agent().phase(failed.ticket) == Phase::kNone);
    }
  }
  for (const char* how : {"1", "2"}) {
    Pair lost(Parameters{{"end", "-2"}, {"lost", how}});
    CHECK(lost.one.run(lost.order(true)).status == Status::kPeerLost);
    CHECK(lost.one.run(dynamo::nixl::Deregister{lost.mine}).status == Status::kOk);
  }
  Side unregistered("unregistered", {{"register", "-2"}});
  int memory = 0;
  CHECK(unregistered.run(dynamo::nixl::Register{0, {reinterpret_cast<uintptr_t>(&memory), 4, 0}}).status ==
        Status::kBackend);
  Side undescribed("undescribed", {{"metadata", "-2"}});
  CHECK(undescribed.run(dynamo::nixl::DescribeSelf{}).status == Status::kBackend);
  Side stuck("stuck", {{"deregister", "-2"}});
  CHECK(stuck.run(dynamo::nixl::Deregister{stuck.registered(&memory, 4)}).status == Status::kBackend);
}

void memoryStaysRegisteredWhileATransferMayTouchIt() {
  Pair pair(Parameters{{"polls", "1000000000"}});
  uint64_t moving = pair.one.begin(pair.order(true));
  while (pair.one.agent().phase(moving) != Phase::kRunning) {
  }
  uint64_t ending = pair.one.begin(dynamo::nixl::Deregister{pair.mine});
  pair.one.agent().cancel(moving);
  CHECK(pair.one.event(moving).status == Status::kCancelled);
  CHECK(pair.one.run(dynamo::nixl::DescribeSelf{}).status ==
        Status::kOk);  // the commands before are executed
  CHECK(!pair.one.hasEnded(ending));
  CHECK(pair.one.agent().close(kLong));
  CHECK(pair.one.event(ending).status == Status::kOk);
}

void deadlinesEndTransfersAndWatches() {
  Pair pair(Parameters{{"polls", "1000000000"}});
  CHECK(pair.one.run(pair.order(true, kPastDeadline)).status == Status::kTimeout);
  CHECK(pair.one.run(dynamo::nixl::Watch{"k", kPastDeadline}).status == Status::kTimeout);
  uint64_t watching = pair.one.begin(dynamo::nixl::Watch{"k", 0});
  CHECK(pair.one.run(dynamo::nixl::Watch{"k", 0}).status == Status::kInvalid);
  CHECK(pair.one.run(dynamo::nixl::Watch{"", 0}).status == Status::kInvalid);
  pair.one.agent().cancel(watching);
  CHECK(pair.one.event(watching).status == Status::kCancelled);
}

void aRequestThatIsNotReleasedIsTriedAgain() {
  Pair pair(Parameters{{"polls", "1000000000"}, {"releases", "5"}});
  uint64_t moving = pair.one.begin(pair.order(true));
  while (pair.one.agent().phase(moving) == Phase::kQueued) {
  }
  pair.one.agent().cancel(moving);
  CHECK(pair.one.event(moving).status == Status::kCancelled);
  Pair done(Parameters{{"releases", "5"}});
  CHECK(done.one.run(done.order(true)).status == Status::kOk);
  CHECK(done.one.run(dynamo::nixl::Deregister{done.mine}).status == Status::kOk);
}

void argumentsThatCannotBeRightAreRefused() {
  Pair pair(Parameters{{"mems", "0"}});
  auto refused = [&](auto change) {
    dynamo::nixl::TransferOrder order = pair.order(true);
    change(order);
    return pair.one.run(std::move(order)).status;
  };
  CHECK(refused([](auto& order) { order.pieces.clear(); }) == Status::kInvalid);
  CHECK(refused([](auto& order) { order.remoteKind = 5; }) == Status::kInvalid);
  CHECK(refused([](auto& order) { order.remoteKind = 1; }) == Status::kBackend);
  CHECK(refused([](auto& order) { order.pieces[0].registration = 99; }) == Status::kStale);
  CHECK(refused([](auto& order) { order.pieces[0].local--; }) == Status::kRange);
  CHECK(refused([](auto& order) { order.pieces[0].length++; }) == Status::kRange);
  CHECK(refused([](auto& order) { order.pieces[0].length = ~uint64_t{0}; }) == Status::kRange);
  CHECK(refused([](auto& order) { order.pieces[0].length = 0; }) == Status::kRange);
  CHECK(refused([](auto& order) { order.pieces[0].remote = 0; }) == Status::kRange);
  CHECK(refused([](auto& order) { order.pieces[0].remote = ~uint64_t{0} - 5; }) == Status::kRange);
  CHECK(refused([](auto& order) { order.pieces[0].remote++; }) == Status::kBackend);
  CHECK(refused([](auto& order) { order.peerMetadata = "damaged"; }) == Status::kCorrupt);
  CHECK(refused([](auto& order) { order.peerMetadata.clear(); }) == Status::kCorrupt);
  for (dynamo::nixl::MemoryRange range :
       {dynamo::nixl::MemoryRange{0, 1, 0}, {1, 0, 0}, {~uint64_t{0}, 2, 0}}) {
    CHECK(pair.one.run(dynamo::nixl::Register{0, range}).status == Status::kInvalid);
  }
  CHECK(pair.one.run(dynamo::nixl::Register{1, {8, 8, 0}}).status == Status::kInvalid);
  CHECK(pair.one.run(dynamo::nixl::Register{-1, {8, 8, 0}}).status == Status::kInvalid);
  CHECK(pair.one.run(dynamo::nixl::Register{5, {8, 8, 0}}).status == Status::kInvalid);
  uint64_t watching = pair.one.begin(dynamo::nixl::Watch{"x", 0});
  CHECK(pair.one.agent().submit({watching, dynamo::nixl::DescribeSelf{}}) == Status::kInvalid);
}

struct Counts {
  int loaded = 0;
  int dropped = 0;
};

template <typename Function>
Function ofFake(const char* name) {
  void* library = dlopen((kFakes + "/libnixl_capi.so").c_str(), RTLD_NOW | RTLD_NOLOAD);
  CHECK(library != nullptr && dlsym(library, name) != nullptr);
  return reinterpret_cast<Function>(dlsym(library, name));
}

/// How often the library loaded and dropped metadata since the last call.
Counts counts() {
  static Counts before;
  Counts now;
  ofFake<void (*)(int*, int*)>("fake_nixl_counts")(&now.loaded, &now.dropped);
  Counts since{now.loaded - before.loaded, now.dropped - before.dropped};
  before = now;
  return since;
}

/// Writes to a peer that registers its memory anew for each of three transfers.
Counts threeTransfers(const Parameters& ofPeer) {
  Side one("writer", {{"none", ""}});
  Side other("owner", ofPeer);
  std::vector<uint8_t> here(10, 1);
  std::vector<uint8_t> there(10, 2);
  uint64_t mine = one.registered(here.data(), here.size());
  counts();
  for (int i = 0; i < 3; i++) {
    uint64_t theirs = other.registered(there.data(), there.size());
    dynamo::nixl::TransferOrder order{
        true,
        0,
        {{mine, reinterpret_cast<uintptr_t>(here.data()), 10, reinterpret_cast<uintptr_t>(there.data()), 0}},
        other.run(dynamo::nixl::DescribeSelf{}).text,
        "key",
        0};
    CHECK(one.run(std::move(order)).status == Status::kOk);
    CHECK(other.run(dynamo::nixl::Deregister{theirs}).status == Status::kOk);
  }
  return counts();
}

void peersStayConnectedUnlessAnOldKeyCouldBeUsed() {
  Counts same = threeTransfers({{"none", ""}});
  CHECK(same.loaded == 1 && same.dropped == 0);
  Counts own = threeTransfers({{"keys", "1"}});
  CHECK(own.loaded == 3 && own.dropped == 2);

  Pair pair(Parameters{{"none", ""}});
  counts();
  CHECK(pair.one.run(pair.order(true)).status == Status::kOk);
  std::vector<uint8_t> more(5);
  pair.other.registered(more.data(), more.size());
  CHECK(pair.one.run(pair.order(true)).status == Status::kOk);
  Counts grown = counts();
  CHECK(grown.loaded == 2 && grown.dropped == 0);
}

void aPeerThatCameBackUnderItsNameIsConnectedAnew() {
  Side one("stays", {{"none", ""}});
  std::vector<uint8_t> here(10, 1);
  uint64_t mine = one.registered(here.data(), here.size());
  for (int i = 0; i < 3; i++) {
    Side other("returns", {{"none", ""}});
    std::vector<uint8_t> there(10, 2);
    other.registered(there.data(), there.size());
    dynamo::nixl::TransferOrder order{
        true,
        0,
        {{mine, reinterpret_cast<uintptr_t>(here.data()), 10, reinterpret_cast<uintptr_t>(there.data()), 0}},
        other.run(dynamo::nixl::DescribeSelf{}).text,
        "key",
        0};
    CHECK(one.run(std::move(order)).status == Status::kOk);
    CHECK(here == there);
  }
}

void damagedMetadataIsNeverReadPastItsEnd() {
  Side side("described", {{"keys", "1"}});
  std::vector<uint8_t> memory(10);
  side.registered(memory.data(), 5);
  side.registered(memory.data() + 5, 5);
  std::string blob = side.run(dynamo::nixl::DescribeSelf{}).text;
  dynamo::nixl::PeerMetadata whole;
  CHECK(dynamo::nixl::parseMetadata(blob, &whole));
  CHECK(whole.name == "described" && whole.ranges.size() == 2);
  for (size_t length = 0; length < blob.size(); length++) {
    dynamo::nixl::PeerMetadata part;
    CHECK(!dynamo::nixl::parseMetadata(blob.substr(0, length), &part));
  }
  for (size_t at = 0; at < blob.size(); at++) {
    for (int bit = 0; bit < 8; bit++) {
      std::string damaged = blob;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      dynamo::nixl::PeerMetadata part;
      dynamo::nixl::parseMetadata(damaged, &part);  // either way
    }
  }
}

void aLibraryThatHangsHoldsNobodyUp() {
  Pair pair(Parameters{{"hang", "300"}});
  uint64_t moving = pair.one.begin(pair.order(true));
  auto hanging = ofFake<int (*)()>("fake_nixl_hanging");
  while (hanging() == 0) {
  }
  CHECK(!pair.one.agent().close(0));
  CHECK(pair.one.agent().submit({99, dynamo::nixl::DescribeSelf{}}) == Status::kStale);
  CHECK(pair.one.event(moving).ticket == moving);
  CHECK(pair.one.agent().close(kLong));
}

void commandsAreBounded() {
  Side side("bounded", {{"none", ""}});
  uint64_t count = 0;
  Status status = Status::kOk;
  while (status == Status::kOk) {
    status = side.agent().submit({1000 + count, dynamo::nixl::Watch{std::to_string(count), 0}});
    count++;
  }
  CHECK(status == Status::kBusy && count == Agent::kMostCommands + 1);
  CHECK(side.agent().close(kLong));
  for (uint64_t i = 0; i + 1 < count; i++) CHECK(side.event(1000 + i).status == Status::kCancelled);
}

}  // namespace

void nixlTests() {
  librariesThatCannotBeUsedAreNamedWithTheReason();
  agentsThatCannotWorkSayWhy();
  bytesMoveBothWaysAndThePeerIsNotified();
  everyFailureOfTheLibraryEndsTheTransfer();
  memoryStaysRegisteredWhileATransferMayTouchIt();
  deadlinesEndTransfersAndWatches();
  aRequestThatIsNotReleasedIsTriedAgain();
  argumentsThatCannotBeRightAreRefused();
  peersStayConnectedUnlessAnOldKeyCouldBeUsed();
  aPeerThatCameBackUnderItsNameIsConnectedAnew();
  damagedMetadataIsNeverReadPastItsEnd();
  aLibraryThatHangsHoldsNobodyUp();
  commandsAreBounded();
}
