#ifndef DYNAMO_TEST_LOAN_FIXTURES_H_
#define DYNAMO_TEST_LOAN_FIXTURES_H_

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "../../main/c++/core/region_lender.h"
#include "../../main/c++/core/region_loan.h"
#include "check.h"

/// What the tests of lenders and borrowers share.
namespace loans {

using dynamo::RegionLender;
using dynamo::RegionLoan;
using dynamo::RegionTable;
using dynamo::Secret;
using dynamo::Status;
using dynamo::UniqueFd;

constexpr uint64_t kBytes = 1 << 20;
constexpr uint64_t kHour = uint64_t{3600} * 1'000'000'000;
constexpr uint64_t kSoon = uint64_t{20} * 1'000'000'000;
constexpr uint64_t kLease = 77;

inline Secret secretOf(unsigned char seed) {
  Secret secret;
  secret.fill(seed);
  return secret;
}

inline std::string freshName() {
  static int count = 0;
  return "dynamo-test-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

inline std::unique_ptr<RegionLender> lenderOf(RegionTable& table, const std::string& name) {
  std::unique_ptr<RegionLender> lender;
  CHECK(RegionLender::open(table, name, &lender, kHour) ==
        Status::kOk);  // of patience: tests may stand still
  return lender;
}

inline uint64_t shared(RegionTable& table) {
  uint64_t handle = 0;
  CHECK(table.allocateShared(kBytes, &handle) == Status::kOk);
  return handle;
}

inline Status borrow(RegionTable& table, const std::string& name, uint64_t* region, const Secret& secret,
                     uint64_t lease = kLease, uint64_t bytes = kBytes) {
  std::unique_ptr<RegionLoan> loan;
  Status status = RegionLoan::ask({name, lease, secret}, &loan);
  return status == Status::kOk ? loan->await(table, bytes, kSoon, region) : status;
}

inline std::byte* bytesOf(RegionTable& table, uint64_t region) {
  RegionTable::Pin pin;
  CHECK(table.pin(region, &pin) == Status::kOk);
  return pin.at(0, kBytes);
}

inline UniqueFd connected(const std::string& name) {
  sockaddr_un address;
  socklen_t length;
  CHECK(dynamo::loanAddress(name, &address, &length));
  UniqueFd made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  CHECK(connect(made.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
  return made;
}

inline bool isHungUp(const UniqueFd& socket) {
  char byte;
  ssize_t length = recv(socket.get(), &byte, 1, 0);
  return length <= 0;  // 0, or reset because what was sent was not read
}

}  // namespace loans

#endif  // DYNAMO_TEST_LOAN_FIXTURES_H_
