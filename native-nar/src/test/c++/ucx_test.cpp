#include <dlfcn.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../../main/c++/backend/ucx/library.h"
#include "../../main/c++/backend/ucx/offer.h"
#include "../../main/c++/backend/ucx/transport.h"
#include "../../main/c++/core/clock.h"
#include "../../main/c++/core/regions.h"
#include "check.h"
#include "fake/ucp.h"

using dynamo::nowNanos;
using dynamo::RegionTable;
using dynamo::Status;
using namespace dynamo::ucx;

namespace {

const std::string kFakes = DYNAMO_FAKE_UCX;
const std::string kFake = kFakes + "/libucp.so";
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kSize = 3 << 20;

/// The controls of the fake, which is the library that the transports have open.
class Fake {
 public:
  Fake() {
    void* handle = dlopen(kFake.c_str(), RTLD_NOW | RTLD_NODELETE);
    CHECK(handle != nullptr);
    set = reinterpret_cast<void (*)(int)>(dlsym(handle, "fake_ucp_set"));
    live = reinterpret_cast<long (*)()>(dlsym(handle, "fake_ucp_live"));
    waiting = reinterpret_cast<long (*)()>(dlsym(handle, "fake_ucp_waiting"));
    hanging = reinterpret_cast<long (*)()>(dlsym(handle, "fake_ucp_hanging"));
    set(kUcpSound);
  }
  ~Fake() { set(kUcpSound); }

  void awaitPuts(long count) { await(waiting, count); }
  void hang(long threads) {
    set(kUcpHangs);
    await(hanging, threads);
  }

  void (*set)(int);
  long (*live)();
  long (*waiting)();
  long (*hanging)();

 private:
  static void await(long (*number)(), long wanted) {
    for (uint64_t until = nowNanos() + 20 * kSecond; number() != wanted;) CHECK(nowNanos() < until);
  }
};

/// A transport whose events are taken one after the other.
class Side {
 public:
  Side(RegionTable& table, const std::string& library, const std::string& transports, bool isRdmaRequired)
      : transport_(Transport::open({{library}, transports, isRdmaRequired}, table)) {
    opened = next();
    CHECK(opened.ticket == Transport::kOpenTicket);
  }

  Event next() {
    Event event;
    CHECK(transport_->await(20 * kSecond, &event) == Status::kOk);
    return event;
  }

  uint64_t start(decltype(Command::what) what) {
    uint64_t ticket = ++tickets_;
    CHECK(transport_->submit({ticket, std::move(what)}) == Status::kOk);
    return ticket;
  }

  Event run(decltype(Command::what) what) {
    uint64_t ticket = start(std::move(what));
    Event event = next();
    CHECK(event.ticket == ticket);
    return event;
  }

  Transport& operator*() { return *transport_; }

  Event opened;

 private:
  std::shared_ptr<Transport> transport_;
  uint64_t tickets_ = 0;
};

/// Two transports of one process: a region of the second one is lent to the first.
struct Pair {
  explicit Pair(const std::string& library = kFake, const std::string& transports = "rc,dc",
                bool isRdmaRequired = true)
      : writer(table, library, transports, isRdmaRequired),
        owner(table, library, transports, isRdmaRequired) {
    CHECK(writer.opened.status == Status::kOk && owner.opened.status == Status::kOk);
    CHECK(table.allocate(kSize, &source) == Status::kOk && table.allocate(kSize, &target) == Status::kOk);
    RegionTable::Pin pin;
    CHECK(table.pin(source, &pin) == Status::kOk);
    for (uint64_t i = 0; i < kSize; i++) *pin.at(i, 1) = static_cast<std::byte>(i * 7 + 1);
    proof.fill(9);
    lease = owner.run(Lend{target, proof, nowNanos() + 60 * kSecond});
    CHECK(lease.status == Status::kOk);
  }

  ~Pair() { CHECK((*writer).close(10 * kSecond) && (*owner).close(10 * kSecond)); }

  Write write(uint64_t length, uint64_t to = 0) const {
    return {source, 0, to, length, lease.text, proof, nowNanos() + 20 * kSecond};
  }

  /// Whether the first bytes of the target are those of the source, and all others zero.
  bool hasArrived(uint64_t length) {
    RegionTable::Pin from, to;
    CHECK(table.pin(source, &from) == Status::kOk && table.pin(target, &to) == Status::kOk);
    for (uint64_t i = 0; i < kSize; i++) {
      if (*to.at(i, 1) != (i < length ? *from.at(i, 1) : std::byte{0})) return false;
    }
    return true;
  }

  RegionTable table;
  Side writer;
  Side owner;
  uint64_t source = 0;
  uint64_t target = 0;
  Proof proof{};
  Event lease;
};

void librariesThatAreNoneAreNamed() {
  std::string why;
  CHECK(openLibrary({kFakes + "/absent.so"}, &why) == nullptr && why.find("absent.so") != std::string::npos);
  CHECK(openLibrary({kFakes + "/incomplete.so"}, &why) == nullptr);
  CHECK(why.find("has no ucp_put_nbx") != std::string::npos);
  CHECK(openLibrary({kFakes + "/old.so"}, &why) == nullptr && why.find("1.12.0") != std::string::npos);
  CHECK(openLibrary({}, &why) == nullptr && !why.empty());
  CHECK(openLibrary({kFakes + "/absent.so", kFake}, &why) != nullptr);
  CHECK(probeLibrary({kFake}, "rc").find("\"present\":true") != std::string::npos);
  std::string without = probeLibrary({kFake}, "none");
  CHECK(without.find("\"present\":false") != std::string::npos &&
        without.find("no device") != std::string::npos);

  RegionTable table;
  Side absent(table, kFakes + "/absent.so", "rc", true);
  CHECK(absent.opened.status == Status::kIo && absent.opened.text.find("absent.so") != std::string::npos);
  Side unable(table, kFake, "none", true);
  CHECK(unable.opened.status == Status::kUnsupported);
  Event event;
  CHECK((*unable).await(20 * kSecond, &event) == Status::kStale);
  CHECK((*unable).submit({1, EndLease{1}}) == Status::kStale);
}

/// Other threads read the environment meanwhile.
void theEnvironmentIsSetOnce() {
  std::string why;
  CHECK(openLibrary({kFake}, &why) != nullptr && std::getenv("UCX_ERROR_SIGNALS") != nullptr);
  unsetenv("UCX_ERROR_SIGNALS");
  unsetenv("UCX_LOG_LEVEL");
  CHECK(openLibrary({kFake}, &why) != nullptr && std::getenv("UCX_ERROR_SIGNALS") == nullptr);
  CHECK(std::getenv("UCX_LOG_LEVEL") == nullptr);
  setenv("UCX_ERROR_SIGNALS", "", 1);
  setenv("UCX_LOG_LEVEL", "fatal", 1);
}

void offersSurviveTheirMessage() {
  Offer offer{"worker", "key", "proof", 4096, 100, 8192};
  Offer read;
  CHECK(Offer::decode(offer.encoded(), &read));
  CHECK(read.worker == "worker" && read.regionKey == "key" && read.proofKey == "proof");
  CHECK(read.base == 4096 && read.size == 100 && read.proofAt == 8192);
  std::string text = offer.encoded();
  for (size_t length = 0; length < text.size(); length++)
    CHECK(!Offer::decode(text.substr(0, length), &read));
  CHECK(!Offer::decode(text + "x", &read));
  text[5] = '\x7f';  // a part that is longer than the whole
  CHECK(!Offer::decode(text, &read));
}

void bytesArriveAndNoOthers(Pair& pair) {
  for (uint64_t length : {uint64_t{0}, uint64_t{1}, uint64_t{4096}, kSize - 1, kSize}) {
    Event event = pair.writer.run(pair.write(length));
    CHECK(event.status == Status::kOk && event.number == length);
    CHECK(pair.hasArrived(length));
  }
  CHECK(pair.writer.run(pair.write(kSize, 1)).status == Status::kRange);
  Write late = pair.write(1);
  late.deadlineNanos = nowNanos();
  CHECK(pair.writer.run(late).status == Status::kTimeout);
  Write broken = pair.write(1);
  broken.offer.resize(20);
  CHECK(pair.writer.run(broken).status == Status::kCorrupt);
}

void aWrongProofWritesNothing(Pair& pair) {
  Write other = pair.write(kSize);
  other.proof[3] ^= 1;
  Event event = pair.writer.run(other);
  CHECK(event.status == Status::kAuth && event.number == 0);
  CHECK(pair.hasArrived(0));
}

void aLeaseThatIsOverTakesNothing(Pair& pair) {
  CHECK(pair.writer.run(pair.write(1)).status == Status::kOk);
  CHECK(pair.owner.run(EndLease{pair.lease.number}).status == Status::kOk);
  CHECK(pair.owner.run(EndLease{pair.lease.number}).status == Status::kOk);
  for (int i = 0; i < 2; i++) {  // by the connection that is there, and by a new one
    Event event = pair.writer.run(pair.write(kSize));
    CHECK(event.status == Status::kPeerLost && event.number == 0);
  }
  CHECK(pair.hasArrived(1));
  Event late = pair.owner.run(Lend{pair.target, pair.proof, nowNanos()});
  CHECK(late.status == Status::kStale);
  uint64_t end = nowNanos() + kSecond;
  Event shortOne = pair.owner.run(Lend{pair.target, pair.proof, end});
  CHECK(shortOne.status == Status::kOk);
  while (nowNanos() <= end) std::this_thread::yield();
  Write write = pair.write(kSize);
  write.offer = shortOne.text;
  CHECK(pair.writer.run(write).status == Status::kPeerLost);
  CHECK(pair.hasArrived(1));
}

void aRegionThatWasReleasedTakesNothing(Pair& pair) {
  uint64_t held = pair.table.heldBytes();
  uint64_t other = 0;
  CHECK(pair.table.allocate(kSize, &other) == Status::kOk);
  Event lease = pair.owner.run(Lend{other, pair.proof, nowNanos() + 60 * kSecond});
  CHECK(lease.status == Status::kOk && pair.table.release(other) == Status::kOk);
  Write write = pair.write(kSize);
  write.offer = lease.text;
  CHECK(pair.writer.run(write).status == Status::kPeerLost);
  uint64_t until = nowNanos() + 20 * kSecond;  // it is freed after its connections
  while (pair.table.heldBytes() != held) CHECK(nowNanos() < until);
  CHECK(pair.owner.run(Lend{other, pair.proof, nowNanos() + kSecond}).status == Status::kStale);

  CHECK(pair.writer.run(pair.write(1)).status == Status::kOk);
  CHECK(pair.table.release(pair.source) == Status::kOk);
  CHECK(pair.writer.run(pair.write(1)).status == Status::kStale);
  until = nowNanos() + 20 * kSecond;  // its registration goes with the next look
  while (pair.table.heldBytes() != held - kSize) CHECK(nowNanos() < until);
}

/// A failure is the write's own: the next one succeeds.
void failuresEndTheWrite(int fault, Status expected, bool hasWritten) {
  Fake fake;
  Pair pair;
  fake.set(fault);
  Event event = pair.writer.run(pair.write(kSize));
  CHECK(event.status == expected && (event.number != 0) == hasWritten);
  fake.set(kUcpSound);
  CHECK(pair.writer.run(pair.write(kSize)).status == Status::kOk && pair.hasArrived(kSize));
}

void cancellationAndDeadlineEndAWriteOnce() {
  Fake fake;
  Pair pair;
  CHECK(pair.writer.run(pair.write(1)).status == Status::kOk);
  fake.set(kUcpStandsStill);
  Write proving = pair.write(kSize);
  proving.deadlineNanos = nowNanos() + kSecond / 20;
  Event event = pair.writer.run(proving);
  CHECK(event.status == Status::kTimeout && event.number == 0);
  fake.set(kUcpStopsPuts);
  Write late = pair.write(kSize);
  late.deadlineNanos = nowNanos() + 2 * kSecond;
  uint64_t ticket = pair.writer.start(late);
  fake.awaitPuts(1);
  event = pair.writer.next();
  CHECK(event.ticket == ticket && event.status == Status::kTimeout && event.number == 1);
  uint64_t given = pair.writer.start(pair.write(kSize));
  fake.awaitPuts(1);
  (*pair.writer).cancel(given);
  (*pair.writer).cancel(given);
  event = pair.writer.next();
  CHECK(event.ticket == given && event.status == Status::kCancelled && event.number == 1);
  (*pair.writer).cancel(given);
  fake.set(kUcpSound);
  CHECK(pair.writer.run(pair.write(kSize)).status == Status::kOk && pair.hasArrived(kSize));
}

/// A write has other ways then, and most of its time.
void aPeerThatDoesNotAnswerEndsAWriteBeforeItsDeadline() {
  Fake fake;
  Pair pair;
  fake.set(kUcpStandsStill);
  Write write = pair.write(kSize);
  Event event = pair.writer.run(write);
  CHECK(event.status == Status::kPeerLost && event.code == kUcpTimedOut && event.number == 0);
  CHECK(nowNanos() < write.deadlineNanos - 10 * kSecond);
  fake.set(kUcpStopsPuts);  // bytes that are on their way have until the deadline
  write.deadlineNanos = nowNanos() + 2 * kSecond;
  CHECK(pair.writer.run(write).status == Status::kTimeout && nowNanos() >= write.deadlineNanos);
  fake.set(kUcpSound);
  CHECK(pair.writer.run(pair.write(kSize)).status == Status::kOk && pair.hasArrived(kSize));
}

/// What was sent before the end of a lease, and not progressed, never arrives; over TCP the library itself
/// looks at no registration.
void sentBytesDoNotOutliveTheLease(const std::string& transports) {
  Fake fake;
  Pair pair(kFake, transports, false);
  CHECK(pair.writer.run(pair.write(1)).status == Status::kOk);
  fake.set(kUcpStopsPuts);
  uint64_t waiting = pair.writer.start(pair.write(kSize));
  fake.awaitPuts(1);
  CHECK(pair.owner.run(EndLease{pair.lease.number}).status == Status::kOk);
  fake.set(kUcpSound);
  Event event = pair.writer.next();
  CHECK(event.ticket == waiting && event.status == Status::kPeerLost && event.number == 1);
  CHECK(pair.hasArrived(1));
}

void closingEndsAllOnce() {
  Fake fake;
  long before = fake.live();
  {
    Pair pair;
    fake.set(kUcpStopsPuts);
    std::vector<uint64_t> tickets;
    for (int i = 0; i < 5; i++) tickets.push_back(pair.writer.start(pair.write(kSize)));
    fake.awaitPuts(5);
    CHECK((*pair.writer).close(20 * kSecond) && (*pair.writer).close(0));
    for (size_t i = 0; i < tickets.size(); i++) {
      Event event = pair.writer.next();
      CHECK(event.status == Status::kCancelled && event.number == 1);
    }
    Event event;
    CHECK((*pair.writer).await(0, &event) == Status::kStale);
    CHECK((*pair.writer).submit({99, EndLease{1}}) == Status::kStale);
    CHECK((*pair.owner).close(20 * kSecond));
  }
  CHECK(fake.live() == before);
}

/// Else a region would have to be closed, since nobody knows whether others still write into it.
void theEndOfALeaseIsTakenBesideAnyNumberOfCommands() {
  Fake fake;
  Pair pair;
  Write broken = pair.write(1);
  broken.offer.resize(20);
  for (size_t i = 0; i < Transport::kMostCommands; i++) pair.owner.start(broken);
  CHECK((*pair.owner).submit({Transport::kMostCommands + 9, broken}) == Status::kBusy);
  uint64_t ending = pair.owner.start(EndLease{pair.lease.number});
  Event last;
  for (size_t i = 0; i <= Transport::kMostCommands; i++) last = pair.owner.next();
  CHECK(last.ticket == ending && last.status == Status::kOk);
}

/// A transport whose library does not return is not over, and neither are its leases.
void aLibraryThatHangsIsNotOver() {
  Fake fake;
  Pair pair;
  fake.hang(2);  // the writer's, too
  uint64_t ending = pair.owner.start(EndLease{pair.lease.number});
  CHECK(!(*pair.owner).close(kSecond / 20));
  CHECK((*pair.owner).submit({99, EndLease{pair.lease.number}}) == Status::kStale);
  CHECK(!(*pair.owner).close(0));
  fake.set(kUcpSound);
  CHECK(pair.owner.next().ticket == ending && (*pair.owner).close(20 * kSecond));
}

void slowTransportsAreRefusedUnlessAskedFor() {
  Fake fake;
  {
    Pair tcp(kFake, "tcp", true);
    Event event = tcp.writer.run(tcp.write(1));
    CHECK(event.status == Status::kUnsupported && event.number == 0);
    CHECK(event.text.find("by tcp") != std::string::npos && tcp.hasArrived(0));
  }
  Pair tcp(kFake, "tcp", false);
  CHECK(tcp.writer.run(tcp.write(1)).status == Status::kOk);
}

void withLibrary(const std::string& library, const std::string& transports, bool isRdmaRequired) {
  auto fresh = [&](auto test) {
    Pair pair(library, transports, isRdmaRequired);
    test(pair);
  };
  fresh(bytesArriveAndNoOthers);
  fresh(aWrongProofWritesNothing);
  fresh(aLeaseThatIsOverTakesNothing);
  fresh(aRegionThatWasReleasedTakesNothing);
}

}  // namespace

void ucxTests() {
  librariesThatAreNoneAreNamed();
  theEnvironmentIsSetOnce();
  offersSurviveTheirMessage();
  {
    Fake fake;
    long before = fake.live();
    withLibrary(kFake, "rc,dc", true);
    CHECK(fake.live() == before);
  }
  failuresEndTheWrite(kUcpRefusesEndpoints, Status::kPeerLost, false);
  failuresEndTheWrite(kUcpRegistersNothing, Status::kNoMemory, false);
  failuresEndTheWrite(kUcpCorruptsReads, Status::kAuth, false);
  failuresEndTheWrite(kUcpFailsPuts, Status::kPeerLost, true);
  failuresEndTheWrite(kUcpLosesPeers, Status::kPeerLost, true);
  cancellationAndDeadlineEndAWriteOnce();
  aPeerThatDoesNotAnswerEndsAWriteBeforeItsDeadline();
  for (const char* transports : {"rc,dc", "tcp"}) sentBytesDoNotOutliveTheLease(transports);
  closingEndsAllOnce();
  theEndOfALeaseIsTakenBesideAnyNumberOfCommands();
  aLibraryThatHangsIsNotOver();
  slowTransportsAreRefusedUnlessAskedFor();
  const char* real = std::getenv("DYNAMO_TEST_LIBUCP");
  if (real == nullptr) {
    std::fprintf(stderr, "skipped: DYNAMO_TEST_LIBUCP names no libucp.so of UCX to write with\n");
  } else {
    withLibrary(real, "rc,dc,tcp", false);
  }
}
