#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../../main/c++/core/kept_loans.h"
#include "check.h"
#include "descriptors.h"
#include "loan_fixtures.h"

using dynamo::Access;
using dynamo::KeptLoans;
using dynamo::LoanAnswer;
using dynamo::LoanKey;
using dynamo::LoanRequest;
using namespace loans;

namespace {

void borrowerWithTheSecretMapsTheMemory() {
  Resources before = Resources::now();
  {
    RegionTable owner;
    RegionTable borrower;
    std::string name = freshName();
    auto lender = lenderOf(owner, name);
    std::unique_ptr<RegionLender> second;
    CHECK(RegionLender::open(owner, name, &second) == Status::kBusy);
    CHECK(RegionLender::open(owner, "", &second) == Status::kInvalid);
    CHECK(RegionLender::open(owner, std::string(65, 'x'), &second) == Status::kInvalid);
    uint64_t lent = shared(owner);
    CHECK(lender->lend(kLease, secretOf(3), lent, kHour) == Status::kOk);
    CHECK(lender->lend(kLease, secretOf(3), lent, kHour) == Status::kInvalid);  // ids are used once
    uint64_t there = 0;
    CHECK(borrow(borrower, name, &there, secretOf(3)) == Status::kOk);
    bytesOf(borrower, there)[9] = std::byte{9};
    CHECK(bytesOf(owner, lent)[9] == std::byte{9});
    CHECK(borrower.release(there) == Status::kOk);

    CHECK(borrow(borrower, name, &there, secretOf(4)) == Status::kAuth);
    CHECK(borrow(borrower, name, &there, secretOf(3), kLease + 1) == Status::kStale);
    CHECK(borrow(borrower, name, &there, secretOf(3), kLease, kBytes - 1) == Status::kRange);
    CHECK(borrow(borrower, freshName(), &there, secretOf(3)) == Status::kPeerLost);
    lender->end(kLease);
    lender->end(kLease);
    CHECK(borrow(borrower, name, &there, secretOf(3)) == Status::kStale);
    CHECK(lender->lend(1, secretOf(3), lent, 0) == Status::kOk);
    CHECK(borrow(borrower, name, &there, secretOf(3), 1) == Status::kStale);  // its time is over
    CHECK(lender->lend(2, secretOf(3), lent, kHour) == Status::kOk);
    CHECK(owner.release(lent) == Status::kOk);
    CHECK(borrow(borrower, name, &there, secretOf(3), 2) == Status::kStale);  // an old epoch
    CHECK(lender->lend(3, secretOf(3), lent, kHour) == Status::kStale);
    uint64_t next = shared(owner);  // the same slot: the old lease does not come to name it
    CHECK(next >> 40 == lent >> 40);
    CHECK(borrow(borrower, name, &there, secretOf(3), 2) == Status::kStale);
    uint64_t plain = 0;
    CHECK(owner.allocate(64, &plain) == Status::kOk);
    CHECK(lender->lend(4, secretOf(3), plain, kHour) == Status::kInvalid);
    lender->close();
    lender->close();
    CHECK(lender->lend(5, secretOf(3), next, kHour) == Status::kStale);
    lender.reset();
    CHECK(borrow(borrower, name, &there, secretOf(3), 2) == Status::kPeerLost);
    CHECK(borrower.heldBytes() == 0);
  }
  CHECK(Resources::now() == before);
}

/// Waits for what another thread does.
template <typename Condition>
void until(Condition holds) {
  for (int i = 0; i < 20'000 && !holds(); i++) usleep(1000);
  CHECK(holds());
}

std::shared_ptr<RegionLoan> borrowed(RegionTable& table, const std::string& name, uint64_t lease) {
  std::unique_ptr<RegionLoan> loan;
  CHECK(RegionLoan::ask({name, lease, secretOf(3)}, &loan) == Status::kOk);
  uint64_t region = 0;
  CHECK(loan->await(table, kBytes, kSoon, &region) == Status::kOk);
  return std::shared_ptr<RegionLoan>(std::move(loan));
}

void aKeptLoanServesUntilItsLeaseEnds() {
  Resources before = Resources::now();
  {
    RegionTable owner;
    RegionTable borrower;
    std::string name = freshName();
    auto lender = lenderOf(owner, name);
    std::unique_ptr<KeptLoans> kept;
    CHECK(KeptLoans::open(borrower, KeptLoans::kLimits, &kept) == Status::kOk);
    LoanKey key{name, kLease, secretOf(3)};
    uint64_t region = 0;
    CHECK(kept->find(key, kBytes, &region) == Status::kStale);
    uint64_t lent = shared(owner);
    CHECK(lender->lend(kLease, secretOf(3), lent, kHour) == Status::kOk);
    kept->keep(borrowed(borrower, name, kLease));
    kept->keep(borrowed(borrower, name, kLease));  // one of them is enough
    CHECK(kept->size() == 1 && borrower.heldBytes() == kBytes);
    CHECK(kept->find(key, kBytes, &region) == Status::kOk);
    bytesOf(borrower, region)[9] = std::byte{9};
    CHECK(bytesOf(owner, lent)[9] == std::byte{9});
    CHECK(kept->find({name, kLease, secretOf(4)}, kBytes, &region) == Status::kStale);
    CHECK(kept->find({name, kLease + 1, secretOf(3)}, kBytes, &region) == Status::kStale);
    CHECK(kept->find({freshName(), kLease, secretOf(3)}, kBytes, &region) == Status::kStale);
    CHECK(kept->find(key, kBytes - 1, &region) == Status::kStale);
    CHECK(owner.freeze(lent) == Status::kBusy);  // the borrower has it mapped
    lender->end(kLease);
    until([&] { return owner.freeze(lent) == Status::kOk; });
    CHECK(bytesOf(owner, lent)[9] == std::byte{9});
    until([&] { return kept->size() == 0 && borrower.heldBytes() == 0; });

    uint64_t next = shared(owner);
    CHECK(lender->lend(1, secretOf(3), next, 5'000'000'000) == Status::kOk);
    kept->keep(borrowed(borrower, name, 1));
    until([&] { return kept->size() == 0; });  // its time is over

    CHECK(lender->lend(2, secretOf(3), next, kHour) == Status::kOk);
    kept->keep(borrowed(borrower, name, 2));
    lender->close();
    until([&] { return kept->size() == 0; });
    kept->close();
    kept->close();
  }
  CHECK(Resources::now() == before);
}

void keptLoansAreBounded() {
  Resources before = Resources::now();
  {
    RegionTable owner;
    RegionTable borrower;
    std::string name = freshName();
    auto lender = lenderOf(owner, name);
    uint64_t lent = shared(owner);
    for (uint64_t i = 0; i < 6; i++) CHECK(lender->lend(i, secretOf(3), lent, kHour) == Status::kOk);
    auto isKept = [&](const std::unique_ptr<KeptLoans>& kept, uint64_t lease) {
      uint64_t region = 0;
      return kept->find({name, lease, secretOf(3)}, kBytes, &region) == Status::kOk;
    };
    std::unique_ptr<KeptLoans> three;
    CHECK(KeptLoans::open(borrower, {3, ~uint64_t{0}}, &three) == Status::kOk);
    for (uint64_t i = 0; i < 3; i++) three->keep(borrowed(borrower, name, i));
    CHECK(isKept(three, 0));  // it is used, and 1 has to go
    three->keep(borrowed(borrower, name, 3));
    CHECK(isKept(three, 0) && !isKept(three, 1) && isKept(three, 2) && isKept(three, 3));
    CHECK(borrower.heldBytes() == 3 * kBytes);
    std::unique_ptr<KeptLoans> bytes;
    CHECK(KeptLoans::open(borrower, {3, 2 * kBytes}, &bytes) == Status::kOk);
    for (uint64_t i = 0; i < 3; i++) bytes->keep(borrowed(borrower, name, i));
    CHECK(!isKept(bytes, 0) && isKept(bytes, 1) && isKept(bytes, 2));
    std::unique_ptr<KeptLoans> few;
    CHECK(KeptLoans::open(borrower, {3, kBytes - 1}, &few) == Status::kOk);
    few->keep(borrowed(borrower, name, 0));
    CHECK(few->size() == 0);
    three->close();
    three->keep(borrowed(borrower, name, 4));
    CHECK(three->size() == 0 && borrower.heldBytes() == 2 * kBytes);
  }
  CHECK(Resources::now() == before);
}

void leasesAreBounded() {
  RegionTable owner;
  auto lender = lenderOf(owner, freshName());
  uint64_t lent = shared(owner);
  for (uint64_t i = 0; i < RegionLender::kMostLeases; i++) {
    CHECK(lender->lend(i, secretOf(1), lent, kHour) == Status::kOk);
  }
  CHECK(lender->lend(5000, secretOf(1), lent, kHour) == Status::kBusy);
  lender->end(7);
  CHECK(lender->lend(5000, secretOf(1), lent, 0) == Status::kOk);
  CHECK(lender->lend(5001, secretOf(1), lent, kHour) == Status::kOk);  // in place of one that is over
}

void borrowersThatTalkNonsenseGetNothing() {
  RegionTable owner;
  RegionTable borrower;
  std::string name = freshName();
  auto lender = lenderOf(owner, name);
  CHECK(lender->lend(kLease, secretOf(3), shared(owner), kHour) == Status::kOk);
  LoanRequest good{LoanRequest::kMagic, dynamo::Access::kWrite, kLease, secretOf(3)};
  std::vector<char> packet(sizeof good + 1);
  std::memcpy(packet.data(), &good, sizeof good);
  for (size_t length : {size_t{1}, sizeof good - 1, sizeof good + 1}) {
    UniqueFd rude = connected(name);
    CHECK(send(rude.get(), packet.data(), length, 0) == static_cast<ssize_t>(length));
    CHECK(isHungUp(rude));
  }
  LoanRequest other = good;
  other.magic++;
  UniqueFd rude = connected(name);
  CHECK(send(rude.get(), &other, sizeof other, 0) == sizeof other);
  CHECK(isHungUp(rude));

  // As many as there is room for say nothing: whoever comes next waits until one of them goes.
  std::vector<UniqueFd> silent;
  for (size_t i = 0; i < RegionLender::kMostBorrowers; i++) silent.push_back(connected(name));
  silent.clear();
  uint64_t there = 0;
  CHECK(borrow(borrower, name, &there, secretOf(3)) == Status::kOk);
}

/// A reader cannot write what it maps, and finds the lease over before it finds what is put there after it.
void aReaderMapsTheMemoryToReadIt() {
  Resources before = Resources::now();
  {
    RegionTable owner;
    RegionTable borrower;
    std::string name = freshName();
    auto lender = lenderOf(owner, name);
    uint64_t lent = shared(owner);
    CHECK(lender->lend(kLease, secretOf(3), lent, kHour, Access::kRead) == Status::kOk);
    CHECK(lender->lend(1, secretOf(3), lent, kHour) == Status::kOk);
    uint64_t region = 0;
    CHECK(borrow(borrower, name, &region, secretOf(3)) == Status::kIo);  // it is not for writing
    LoanKey key{name, 1, secretOf(3), Access::kRead};
    std::unique_ptr<RegionLoan> loan;
    CHECK(RegionLoan::ask(key, &loan) == Status::kOk);
    CHECK(loan->await(borrower, kBytes, kSoon, &region) == Status::kIo);  // and that one not for reading
    key.lease = kLease;
    CHECK(RegionLoan::ask(key, &loan) == Status::kOk);
    CHECK(loan->await(borrower, kBytes, kSoon, &region) == Status::kOk);
    CHECK(mprotect(bytesOf(borrower, region), kBytes, PROT_READ | PROT_WRITE) != 0);
    bytesOf(owner, lent)[9] = std::byte{9};
    CHECK(bytesOf(borrower, region)[9] == std::byte{9});
    CHECK(loan->isRunning());
    CHECK(owner.freeze(lent) == Status::kOk);  // a reader does not keep it from that
    lender->end(kLease);
    CHECK(!loan->isRunning());
    CHECK(borrower.release(region) == Status::kOk);
    CHECK(borrower.heldBytes() == 0);
  }
  CHECK(Resources::now() == before);
}

void aKeptLoanOfAReaderServesNoWriter() {
  RegionTable owner;
  RegionTable borrower;
  std::string name = freshName();
  auto lender = lenderOf(owner, name);
  CHECK(lender->lend(kLease, secretOf(3), shared(owner), kHour, Access::kRead) == Status::kOk);
  std::unique_ptr<KeptLoans> kept;
  CHECK(KeptLoans::open(borrower, KeptLoans::kLimits, &kept) == Status::kOk);
  LoanKey key{name, kLease, secretOf(3), Access::kRead};
  CHECK(!kept->isRunning(key));
  std::unique_ptr<RegionLoan> loan;
  uint64_t region = 0;
  CHECK(RegionLoan::ask(key, &loan) == Status::kOk);
  CHECK(loan->await(borrower, kBytes, kSoon, &region) == Status::kOk);
  kept->keep(std::move(loan));
  CHECK(kept->find(key, kBytes, &region) == Status::kOk);
  CHECK(kept->isRunning(key));
  key.access = Access::kWrite;  // a copy into it would end this process
  CHECK(kept->find(key, kBytes, &region) == Status::kStale);
  CHECK(!kept->isRunning(key));
  key.access = Access::kRead;
  lender->end(kLease);
  CHECK(!kept->isRunning(key));
  kept->close();
}

/// A reader on another thread, which trusts a copy only when the lease runs after it, never has a byte of
/// the next use.
void aReaderNeverTrustsBytesOfTheNextUse() {
  RegionTable owner;
  RegionTable borrower;
  std::string name = freshName();
  auto lender = lenderOf(owner, name);
  uint64_t lent = shared(owner);
  auto* bytes = reinterpret_cast<std::atomic<unsigned char>*>(bytesOf(owner, lent));
  for (uint64_t lease = 1; lease <= 200; lease++) {
    bytes[kBytes - 1].store(0, std::memory_order_relaxed);
    CHECK(lender->lend(lease, secretOf(3), lent, kHour, Access::kRead) == Status::kOk);
    std::unique_ptr<RegionLoan> loan;
    uint64_t region = 0;
    CHECK(RegionLoan::ask({name, lease, secretOf(3), Access::kRead}, &loan) == Status::kOk);
    CHECK(loan->await(borrower, kBytes, kSoon, &region) == Status::kOk);
    std::atomic<bool> begun{false};
    std::thread reader([&] {
      auto* read = reinterpret_cast<std::atomic<unsigned char>*>(bytesOf(borrower, region));
      for (;;) {
        unsigned char seen = read[kBytes - 1].load(std::memory_order_relaxed);
        if (!loan->isRunning()) break;
        CHECK(seen == 0);
        begun = true;
      }
    });
    while (!begun) std::this_thread::yield();
    lender->end(lease);
    bytes[kBytes - 1].store(1, std::memory_order_relaxed);
    reader.join();
    CHECK(borrower.release(region) == Status::kOk);
  }
}

/// Whoever finds the lender closed, but not gone yet, finds its readers told.
void aLenderThatClosesHasToldItsReaders() {
  RegionTable owner;
  RegionTable borrower;
  uint64_t lent = shared(owner);
  for (int round = 0; round < 200; round++) {
    std::string name = freshName();
    auto lender = lenderOf(owner, name);
    CHECK(lender->lend(kLease, secretOf(3), lent, kHour, Access::kRead) == Status::kOk);
    std::unique_ptr<RegionLoan> loan;
    uint64_t region = 0;
    CHECK(RegionLoan::ask({name, kLease, secretOf(3), Access::kRead}, &loan) == Status::kOk);
    CHECK(loan->await(borrower, kBytes, kSoon, &region) == Status::kOk);
    std::thread closing([&] { lender->close(); });
    for (uint64_t lease = 100; lender->lend(lease, secretOf(3), lent, kHour) != Status::kStale; lease++) {
    }
    CHECK(!loan->isRunning());
    closing.join();
    CHECK(borrower.release(region) == Status::kOk);
  }
}

/// A lender that answers what it is told to.
class FalseLender {
 public:
  explicit FalseLender(const std::string& name)
      : listener_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address;
    socklen_t length;
    CHECK(dynamo::loanAddress(name, &address, &length));
    CHECK(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    CHECK(listen(listener_.get(), 4) == 0);
  }

  UniqueFd accepted() { return UniqueFd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

 private:
  UniqueFd listener_;
};

void send(const UniqueFd& to, const void* bytes, size_t length, int descriptors, int fd) {
  iovec piece{const_cast<void*>(bytes), length};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (descriptors > 0) {
    size_t size = static_cast<size_t>(descriptors) * sizeof(int);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    for (size_t i = 0; i < size; i += sizeof fd) std::memcpy(CMSG_DATA(header) + i, &fd, sizeof fd);
  }
  CHECK(sendmsg(to.get(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(length));
}

void answersThatMakeNoSenseLeaveNothingOpen() {
  RegionTable borrower;
  std::string name = freshName();
  FalseLender lender(name);
  Resources before = Resources::now();
  UniqueFd unsealed(memfd_create("unsealed", MFD_CLOEXEC));
  CHECK(ftruncate(unsealed.get(), kBytes) == 0);
  struct Case {
    LoanAnswer answer;
    size_t length;
    int descriptors;
    Status expected;
  };
  const LoanAnswer good{LoanAnswer::kMagic, 0, kBytes};
  std::vector<Case> cases = {
      {good, sizeof good, 1, Status::kCorrupt},  // not sealed
      {good, sizeof good, 0, Status::kCorrupt},
      {good, sizeof good, 2, Status::kCorrupt},
      {good, sizeof good, 8, Status::kCorrupt},  // more than there is room for
      {good, sizeof good - 1, 1, Status::kCorrupt},
      {{LoanAnswer::kMagic + 1, 0, kBytes}, sizeof good, 1, Status::kCorrupt},
      {{LoanAnswer::kMagic, 0, kBytes + 1}, sizeof good, 1, Status::kRange},
      {{LoanAnswer::kMagic, -4, 0}, sizeof good, 1, Status::kCorrupt},
      {{LoanAnswer::kMagic, -4, 0}, sizeof good, 0, Status::kStale},
      {{LoanAnswer::kMagic, -14, 0}, sizeof good, 0, Status::kAuth},
      {{LoanAnswer::kMagic, -11, 0}, sizeof good, 0, Status::kIo},
      {{LoanAnswer::kMagic, 12345, 0}, sizeof good, 0, Status::kIo},
  };
  for (const Case& one : cases) {
    std::unique_ptr<RegionLoan> loan;
    CHECK(RegionLoan::ask({name, kLease, secretOf(1)}, &loan) == Status::kOk);
    UniqueFd asker = lender.accepted();
    send(asker, &one.answer, one.length, one.descriptors, unsealed.get());
    uint64_t region = 0;
    CHECK(loan->await(borrower, kBytes, kSoon, &region) == one.expected);
    CHECK(region == 0);
  }
  std::unique_ptr<RegionLoan> loan;
  CHECK(RegionLoan::ask({name, kLease, secretOf(1)}, &loan) == Status::kOk);
  lender.accepted();  // hangs up
  uint64_t region = 0;
  CHECK(loan->await(borrower, kBytes, kSoon, &region) == Status::kPeerLost);
  loan.reset();
  unsealed = UniqueFd();
  CHECK(borrower.heldBytes() == 0);
  CHECK(Resources::now() == before);
}

void aLoanThatIsNotAnsweredCanBeGivenUp() {
  RegionTable borrower;
  std::string name = freshName();
  FalseLender silent(name);
  std::unique_ptr<RegionLoan> loan;
  CHECK(RegionLoan::ask({name, kLease, secretOf(1)}, &loan) == Status::kOk);
  uint64_t region = 0;
  CHECK(loan->await(borrower, kBytes, 1, &region) == Status::kBusy);
  std::thread other([&] { loan->giveUp(); });
  Status status;
  do {
    status = loan->await(borrower, kBytes, kSoon, &region);
  } while (status == Status::kBusy);
  other.join();
  CHECK(status == Status::kCancelled);
}

}  // namespace

void loanTests() {
  borrowerWithTheSecretMapsTheMemory();
  aKeptLoanServesUntilItsLeaseEnds();
  keptLoansAreBounded();
  leasesAreBounded();
  aReaderMapsTheMemoryToReadIt();
  aKeptLoanOfAReaderServesNoWriter();
  aReaderNeverTrustsBytesOfTheNextUse();
  aLenderThatClosesHasToldItsReaders();
  borrowersThatTalkNonsenseGetNothing();
  answersThatMakeNoSenseLeaveNothingOpen();
  aLoanThatIsNotAnsweredCanBeGivenUp();
}
