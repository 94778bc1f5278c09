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
struct Fake {
  Fake() {
    void* handle = dlopen(kFake.c_str(), RTLD_NOW | RTLD_NODELETE);
    CHECK(handle != nullptr);
    set = reinterpret_cast<void (*)(int)>(dlsym(handle, "fake_ucp_set"));
    live = reinterpret_cast<long (*)()>(dlsym(handle, "fake_ucp_live"));
    waiting = reinterpret_cast<long (*)()>(dlsym(handle, "fake_ucp_waiting"));
    set(kUcpSound);
  }
  ~Fake() { set(kUcpSound); }

  void (*set)(int);
  long (*live)();
  long (*waiting)();
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
  Event shortOne = pair.owner.run(Lend{pair.target, pair.proof, nowNanos() + kSecond / 20});
  CHECK(shortOne.status == Status::kOk);
  for (uint64_t until = nowNanos() + kSecond / 20; nowNanos() < until;) std::this_thread::yield();
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
  Write late = pair.write(kSize);
  late.deadlineNanos = nowNanos() + kSecond / 20;
  CHECK(pair.writer.run(late).status == Status::kTimeout);
  uint64_t given = pair.writer.start(pair.write(kSize));
  (*pair.writer).cancel(given);
  (*pair.writer).cancel(given);
  Event event = pair.writer.next();
  CHECK(event.ticket == given && event.status == Status::kCancelled);
  (*pair.writer).cancel(given);
  fake.set(kUcpSound);
  CHECK(pair.writer.run(pair.write(kSize)).status == Status::kOk && pair.hasArrived(kSize));
}

/// What was sent before the end of a lease, and not progressed, never arrives.
void sentBytesDoNotOutliveTheLease() {
  Fake fake;
  Pair pair;
  CHECK(pair.writer.run(pair.write(1)).status == Status::kOk);
  uint64_t until = nowNanos() + 20 * kSecond;
  fake.set(kUcpStandsStill);
  uint64_t waiting = pair.writer.start(pair.write(kSize));
  while (fake.waiting() == 0) CHECK(nowNanos() < until);
  CHECK(pair.owner.run(EndLease{pair.lease.number}).status == Status::kOk);
  fake.set(kUcpSound);
  Event event = pair.writer.next();
  CHECK(event.ticket == waiting && event.status == Status::kPeerLost);
  CHECK(pair.hasArrived(1));
}

void closingEndsAllOnce() {
  Fake fake;
  long before = fake.live();
  {
    Pair pair;
    fake.set(kUcpStandsStill);
    std::vector<uint64_t> tickets;
    for (int i = 0; i < 5; i++) tickets.push_back(pair.writer.start(pair.write(kSize)));
    CHECK((*pair.writer).close(20 * kSecond) && (*pair.writer).close(0));
    for (size_t i = 0; i < tickets.size(); i++) CHECK(pair.writer.next().status == Status::kCancelled);
    Event event;
    CHECK((*pair.writer).await(0, &event) == Status::kStale);
    CHECK((*pair.writer).submit({99, EndLease{1}}) == Status::kStale);
    CHECK((*pair.owner).close(20 * kSecond));
  }
  CHECK(fake.live() == before);
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
  sentBytesDoNotOutliveTheLease();
  closingEndsAllOnce();
  slowTransportsAreRefusedUnlessAskedFor();
  const char* real = std::getenv("DYNAMO_TEST_LIBUCP");
  if (real == nullptr) {
    std::fprintf(stderr, "skipped: DYNAMO_TEST_LIBUCP names no libucp.so of UCX to write with\n");
  } else {
    withLibrary(real, "rc,dc,tcp", false);
  }
}
