#include "closed_peers.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dynamo {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

struct DumpRequest {
  nlmsghdr header;
  inet_diag_req_v2 body;
};

int sendRequest(int fd, uint8_t family, uint16_t localPort) {
  DumpRequest request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.header.nlmsg_seq = family;
  request.body.sdiag_family = family;
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = 1u << TCP_CLOSE_WAIT;
  request.body.id.idiag_sport = htons(localPort);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  ssize_t sent = sendto(fd, &request, sizeof request, 0, reinterpret_cast<sockaddr*>(&kernel), sizeof kernel);
  return sent == static_cast<ssize_t>(sizeof request) ? 0 : sent < 0 ? errno : EIO;
}

Peer peerOf(const inet_diag_msg& socket) {
  Peer peer{};
  peer.port = ntohs(socket.id.idiag_dport);
  if (socket.idiag_family == AF_INET) {
    peer.address[10] = peer.address[11] = 0xff;
    std::memcpy(&peer.address[12], socket.id.idiag_dst, 4);
  } else {
    std::memcpy(peer.address.data(), socket.id.idiag_dst, 16);
  }
  return peer;
}

/// Reads one datagram of the dump. Returns an errno, with `done` set after the last.
int readSome(int fd, uint8_t family, uint16_t localPort, size_t limit, std::vector<Peer>* peers, bool* done) {
  alignas(nlmsghdr) char buffer[32768];
  sockaddr_nl from{};
  iovec piece{buffer, sizeof buffer};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  // The kernel fills the dump within the system calls themselves, so there is never anything to wait for.
  ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT);
  if (got < 0) return errno == EINTR ? 0 : errno;
  if ((message.msg_flags & MSG_TRUNC) != 0) return EMSGSIZE;
  if (from.nl_pid != 0) return 0;  // not the kernel
  auto left = static_cast<int>(got);
  for (auto* header = reinterpret_cast<nlmsghdr*>(buffer); NLMSG_OK(header, left);
       header = NLMSG_NEXT(header, left)) {
    if (header->nlmsg_seq != family) continue;
    if (header->nlmsg_type == NLMSG_DONE) {
      *done = true;
      return 0;
    }
    if (header->nlmsg_type == NLMSG_ERROR) {
      if (header->nlmsg_len < NLMSG_LENGTH(sizeof(nlmsgerr))) return EPROTO;
      int error = -static_cast<nlmsgerr*>(NLMSG_DATA(header))->error;
      return error > 0 ? error : EPROTO;
    }
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg))) return EPROTO;
    const auto& socket = *static_cast<inet_diag_msg*>(NLMSG_DATA(header));
    if (socket.idiag_state == TCP_CLOSE_WAIT && socket.id.idiag_sport == htons(localPort) &&
        peers->size() < limit) {
      peers->push_back(peerOf(socket));
    }
  }
  return 0;
}

int dumpFamily(uint8_t family, uint16_t localPort, size_t limit, std::vector<Peer>* peers) {
  // A socket of its own for each dump: one that is given up half-way leaves nothing behind.
  Descriptor netlink(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (netlink.get() < 0) return errno;
  int error = sendRequest(netlink.get(), family, localPort);
  for (bool done = false; error == 0 && !done;) {
    error = readSome(netlink.get(), family, localPort, limit, peers, &done);
  }
  return error;
}

}  // namespace

int findClosedPeers(uint16_t localPort, size_t limit, std::vector<Peer>* peers) {
  int error = dumpFamily(AF_INET, localPort, limit, peers);
  if (error != 0) return error;
  // A dual-stack listener's connections are IPv6 sockets even when the client came over IPv4.
  error = dumpFamily(AF_INET6, localPort, limit, peers);
  return error == ENOENT ? 0 : error;  // a kernel without IPv6
}

}  // namespace dynamo
