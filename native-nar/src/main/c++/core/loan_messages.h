#ifndef DYNAMO_CORE_LOAN_MESSAGES_H_
#define DYNAMO_CORE_LOAN_MESSAGES_H_

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "shared_memory.h"
#include "status.h"

namespace dynamo {

/// Shows that a process was given a region's address.
using Secret = std::array<unsigned char, 32>;

/// Compares in a time that does not depend on where they differ.
bool isSame(const Secret& a, const Secret& b);

/// The two messages between a borrower and a lender of one host, each one packet of a Unix socket: the
/// borrower asks, the lender answers, with the descriptor of the memory beside a kOk. The borrower hangs up
/// when it has let go of the memory, the lender when the lease is over, and the borrower then lets go, too. A
/// borrower that reads looks for that after its copy: a lender that has not hung up has not ended the lease.
struct LoanRequest {
  static constexpr uint32_t kMagic = 0x31485344;  // "DSH1"
  uint32_t magic;
  Access access;
  uint64_t lease;
  Secret secret;
};
static_assert(sizeof(LoanRequest) == 48, "no padding: all of it is sent");

struct LoanAnswer {
  static constexpr uint32_t kMagic = 0x32485344;  // "DSH2"
  uint32_t magic;
  int32_t status;
  uint64_t bytes;
};
static_assert(sizeof(LoanAnswer) == 16, "no padding: all of it is sent");

/// The most characters that the name of a lender may have.
constexpr size_t kLoanNameLength = 64;

/// The abstract address of a name, which needs no file; false when the name is empty or too long.
bool loanAddress(const std::string& name, sockaddr_un* address, socklen_t* length);

/// Whether the process at the other end runs for the same user as this one.
bool isSameUser(int socket);

/// Sends an answer without waiting, with a descriptor unless `memory` is closed.
bool sendAnswer(int socket, const LoanAnswer& answer, const UniqueFd& memory);

/// Receives an answer that is there. kCorrupt when it is none, or comes without the one descriptor that a kOk
/// needs; kIo when this process has no room for the descriptor; then every descriptor that came is closed.
Status receiveAnswer(int socket, LoanAnswer* answer, UniqueFd* memory);

}  // namespace dynamo

#endif  // DYNAMO_CORE_LOAN_MESSAGES_H_
