#include "loan_messages.h"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace dynamo {
namespace {

constexpr size_t kMostDescriptors = 4;  // more than one is wrong, and all that come are closed

}  // namespace

bool isSame(const Secret& a, const Secret& b) {
  unsigned different = 0;
  for (size_t i = 0; i < a.size(); i++) different |= static_cast<unsigned>(a[i] ^ b[i]);
  return different == 0;
}

bool loanAddress(const std::string& name, sockaddr_un* address, socklen_t* length) {
  if (name.empty() || name.size() > kLoanNameLength) return false;
  *address = {};
  address->sun_family = AF_UNIX;
  std::memcpy(address->sun_path + 1, name.data(), name.size());  // a leading zero: no file
  *length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return true;
}

bool isSameUser(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && length == sizeof peer &&
         peer.uid == geteuid();
}

bool sendAnswer(int socket, const LoanAnswer& answer, const UniqueFd& memory) {
  iovec piece{const_cast<LoanAnswer*>(&answer), sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (memory.isOpen()) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    int fd = memory.get();
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof answer);
}

Status receiveAnswer(int socket, LoanAnswer* answer, UniqueFd* memory) {
  iovec piece{answer, sizeof *answer};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  std::vector<UniqueFd> came;
  came.reserve(kMostDescriptors);  // from the receipt on nothing fails before they are owned
  ssize_t length;
  do {
    length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (length < 0 && errno == EINTR);
  for (cmsghdr* at = CMSG_FIRSTHDR(&message); length >= 0 && at != nullptr; at = CMSG_NXTHDR(&message, at)) {
    if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS) continue;
    for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= at->cmsg_len; i++) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(at) + i * sizeof fd, sizeof fd);
      came.emplace_back(fd);
    }
  }
  if (length < 0) return errno == EAGAIN ? Status::kBusy : Status::kPeerLost;
  if (length == 0) return Status::kPeerLost;
  if ((message.msg_flags & MSG_CTRUNC) != 0 && came.size() < 2) return Status::kIo;
  if (length != static_cast<ssize_t>(sizeof *answer) || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
      answer->magic != LoanAnswer::kMagic || came.size() != (answer->status == 0 ? 1 : 0)) {
    return Status::kCorrupt;
  }
  if (!came.empty()) *memory = std::move(came.front());
  return Status::kOk;
}

}  // namespace dynamo
