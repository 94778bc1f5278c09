#include "region_loan.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace dynamo {

Status RegionLoan::ask(const LoanKey& key, std::unique_ptr<RegionLoan>* asked) {
  sockaddr_un address;
  socklen_t length;
  if (!loanAddress(key.lender, &address, &length)) return Status::kInvalid;
  UniqueFd made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.isOpen()) return errno == EMFILE || errno == ENFILE ? Status::kBusy : Status::kIo;
  if (connect(made.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    return errno == EAGAIN ? Status::kBusy : Status::kPeerLost;
  }
  if (!isSameUser(made.get())) return Status::kAuth;  // before it is told the secret
  LoanRequest request{LoanRequest::kMagic, key.access, key.lease, key.secret};
  if (send(made.get(), &request, sizeof request, MSG_DONTWAIT | MSG_NOSIGNAL) !=
      static_cast<ssize_t>(sizeof request)) {
    return Status::kPeerLost;
  }
  asked->reset(new RegionLoan(key, std::move(made)));
  return Status::kOk;
}

Status RegionLoan::await(RegionTable& table, uint64_t bytes, uint64_t maxNanos, uint64_t* region) {
  constexpr uint64_t kLongest = uint64_t{60} * 1000;
  pollfd waiting{socket_.get(), POLLIN, 0};
  int ready = poll(&waiting, 1, static_cast<int>(std::min(maxNanos / 1'000'000 + 1, kLongest)));
  if (givenUp_.load()) return Status::kCancelled;
  if (ready == 0 || (ready < 0 && errno == EINTR)) return Status::kBusy;
  if (ready < 0) return Status::kIo;
  LoanAnswer answer{};
  UniqueFd memory;
  Status status = receiveAnswer(socket_.get(), &answer, &memory);
  if (givenUp_.load()) return Status::kCancelled;
  if (status != Status::kOk) return status;
  auto said = static_cast<Status>(answer.status);
  if (said == Status::kStale || said == Status::kAuth) return said;
  if (said != Status::kOk) return Status::kIo;  // its own trouble, e.g. no descriptor left
  if (answer.bytes != bytes) return Status::kRange;
  status = table.adopt(std::move(memory), bytes, region, key_.access);
  if (status == Status::kOk) {
    region_ = *region;
    bytes_ = bytes;
  }
  return status;
}

bool RegionLoan::isRunning() const {
  __sync_synchronize();  // what was read was read before this look; ThreadSanitizer knows no std fence
  pollfd looking{socket_.get(), POLLIN, 0};
  int ready;
  do {
    ready = poll(&looking, 1, 0);
  } while (ready < 0 && errno == EINTR);
  return ready == 0;
}

void RegionLoan::giveUp() {
  givenUp_.store(true);
  shutdown(socket_.get(), SHUT_RDWR);
}

}  // namespace dynamo
