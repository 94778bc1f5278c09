#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "descriptors.h"
#include "loan_fixtures.h"

using dynamo::LoanRequest;
using namespace loans;

namespace {

/// This program in a second process.
class Peer {
 public:
  Peer(const std::string& role, const std::string& name, const std::string& user = "") {
    int to[2];
    int from[2];
    CHECK(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    std::vector<std::string> words = {"core-test", role, name, user};
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    CHECK(posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, arguments.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    in_ = UniqueFd(to[1]);
    out_ = UniqueFd(from[0]);
  }

  ~Peer() { end(); }

  /// The next letter that it prints; 0 when it has ended.
  char heard() {
    char letter = 0;
    pollfd waiting{out_.get(), POLLIN, 0};
    CHECK(poll(&waiting, 1, 30'000) == 1);
    return read(out_.get(), &letter, 1) == 1 ? letter : '\0';
  }

  void tell() { CHECK(write(in_.get(), "x", 1) == 1); }

  void stop() {
    CHECK(kill(pid_, SIGSTOP) == 0);
    int state = 0;
    CHECK(waitpid(pid_, &state, WUNTRACED) == pid_ && WIFSTOPPED(state));
  }

  void goOn() { CHECK(kill(pid_, SIGCONT) == 0); }

  void end() {
    if (pid_ == 0) return;
    CHECK(kill(pid_, SIGKILL) == 0);
    CHECK(waitpid(pid_, nullptr, 0) == pid_);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  UniqueFd in_;
  UniqueFd out_;
};

void say(char letter) { CHECK(write(1, &letter, 1) == 1); }

void listen() {
  char letter;
  if (read(0, &letter, 1) != 1) std::exit(0);  // the test is over
}

/// A borrower that dies while it writes keeps nothing; one that stands still keeps its owner from trusting
/// the bytes, but from nothing else.
void aBorrowerThatDiesLetsGo() {
  Resources before = Resources::now();
  {
    RegionTable owner;
    std::string name = freshName();
    auto lender = lenderOf(owner, name);
    uint64_t lent = shared(owner);
    CHECK(lender->lend(kLease, secretOf(3), lent, kHour) == Status::kOk);
    Peer borrower("borrow", name);
    CHECK(borrower.heard() == 'm');  // it has it mapped, and writes
    lender->end(kLease);
    CHECK(owner.freeze(lent) == Status::kBusy);
    borrower.stop();
    CHECK(owner.freeze(lent) == Status::kBusy);
    borrower.goOn();
    borrower.end();
    Status frozen;
    do {
      frozen = owner.freeze(lent);  // whoever looks into its memory, as ps does, keeps that a moment longer
    } while (frozen == Status::kBusy);
    CHECK(frozen == Status::kOk);
    std::byte* base = bytesOf(owner, lent);
    std::vector<std::byte> seen(base, base + kBytes);
    CHECK(std::memcmp(seen.data(), bytesOf(owner, lent), kBytes) == 0);
    CHECK(owner.release(lent) == Status::kOk);
    CHECK(owner.heldBytes() == 0);
  }
  CHECK(Resources::now() == before);
}

void aLenderThatDiesLeavesTheMapping() {
  Resources before = Resources::now();
  {
    RegionTable table;
    std::string name = freshName();
    Peer lender("lend", name);
    CHECK(lender.heard() == 'l');
    uint64_t there = 0;
    CHECK(borrow(table, name, &there, secretOf(3)) == Status::kOk);
    lender.tell();  // tries to cut the memory short
    CHECK(lender.heard() == 'r');
    lender.stop();
    std::unique_ptr<RegionLoan> loan;
    CHECK(RegionLoan::ask({name, kLease, secretOf(3)}, &loan) == Status::kOk);
    uint64_t none = 0;
    CHECK(loan->await(table, kBytes, 20'000'000, &none) == Status::kBusy);
    lender.end();
    CHECK(loan->await(table, kBytes, kSoon, &none) == Status::kPeerLost);
    CHECK(borrow(table, name, &none, secretOf(3)) == Status::kPeerLost);
    std::memset(bytesOf(table, there), 1, kBytes);  // the pages live as long as their last mapping
    CHECK(bytesOf(table, there)[kBytes - 1] == std::byte{1});
    CHECK(table.release(there) == Status::kOk);
  }
  CHECK(Resources::now() == before);
}

void otherUsersAreRefused() {
  if (geteuid() != 0) {
    std::puts("not tested without root: processes of other users");
    return;
  }
  RegionTable table;
  std::string name = freshName();
  auto lender = lenderOf(table, name);
  CHECK(lender->lend(kLease, secretOf(3), shared(table), kHour) == Status::kOk);
  Peer borrower("foreign", name, "65534");
  CHECK(borrower.heard() == 'a');  // it finds our listener to be another user's
  CHECK(borrower.heard() == 'h');  // and is hung up on when it asks nevertheless
  std::string theirs = freshName();
  Peer foreign("lend", theirs, "65534");
  CHECK(foreign.heard() == 'l');
  uint64_t none = 0;
  CHECK(borrow(table, theirs, &none, secretOf(3)) == Status::kAuth);
}

}  // namespace

int loanPeer(int count, char** arguments) {
  CHECK(count == 4);
  std::string role = arguments[1];
  std::string name = arguments[2];
  if (*arguments[3] != '\0') CHECK(setuid(static_cast<uid_t>(std::atoi(arguments[3]))) == 0);
  RegionTable table;
  uint64_t region = 0;
  if (role == "borrow") {
    CHECK(borrow(table, name, &region, secretOf(3)) == Status::kOk);
    std::byte* base = bytesOf(table, region);
    say('m');
    for (int round = 0;; round++) std::memset(base, round, kBytes);  // until it is killed
  } else if (role == "lend") {
    auto lender = lenderOf(table, name);
    region = shared(table);
    CHECK(lender->lend(kLease, secretOf(3), region, kHour) == Status::kOk);
    say('l');
    listen();
    UniqueFd memory;
    uint64_t bytes = 0;
    CHECK(table.shareable(region, &memory, &bytes) == Status::kOk);
    say(ftruncate(memory.get(), 0) == 0 ? 's' : 'r');
    listen();
  } else {
    std::unique_ptr<RegionLoan> loan;
    say(RegionLoan::ask({name, kLease, secretOf(3)}, &loan) == Status::kAuth ? 'a' : '?');
    UniqueFd socket = connected(name);
    LoanRequest request{LoanRequest::kMagic, dynamo::Access::kWrite, kLease, secretOf(3)};
    ::send(socket.get(), &request, sizeof request, MSG_NOSIGNAL);
    say(isHungUp(socket) ? 'h' : '?');
    listen();
  }
  return 0;
}

void loanProcessTests() {
  aBorrowerThatDiesLetsGo();
  aLenderThatDiesLeavesTheMapping();
  otherUsersAreRefused();
}
