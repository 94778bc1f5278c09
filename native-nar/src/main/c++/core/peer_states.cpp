#include "peer_states.h"

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

/// So many lookups leave in one system call; their answers fit the smallest receive buffer of a socket.
constexpr size_t kBatch = 64;
/// An answer has its attributes behind it, a few hundred bytes.
constexpr size_t kAnswerBytes = 1024;

struct Lookup {
  nlmsghdr header;
  inet_diag_req_v2 body;
};
static_assert(sizeof(Lookup) % NLMSG_ALIGNTO == 0, "lookups stand one behind the other");

bool isMapped(const std::array<uint8_t, 16>& address) {
  static constexpr uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(address.data(), kPrefix, sizeof kPrefix) == 0;
}

Lookup lookup(const Connection& connection, size_t index) {
  Lookup request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.header.nlmsg_seq = static_cast<uint32_t>(index);
  auto& id = request.body.id;
  // The kernel finds an IPv6 socket that speaks IPv4 by its IPv4 addresses too.
  bool ipv4 = isMapped(connection.local.address) && isMapped(connection.remote.address);
  request.body.sdiag_family = ipv4 ? AF_INET : AF_INET6;
  request.body.sdiag_protocol = IPPROTO_TCP;
  id.idiag_sport = htons(connection.local.port);
  id.idiag_dport = htons(connection.remote.port);
  size_t from = ipv4 ? 12 : 0;
  std::memcpy(id.idiag_src, &connection.local.address[from], 16 - from);
  std::memcpy(id.idiag_dst, &connection.remote.address[from], 16 - from);
  id.idiag_if = connection.interface;
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return request;
}

/// Reads the answer to one lookup into `states[its number]`. Returns an errno; `*read` says whether it was
/// one.
int readAnswer(char* buffer, size_t got, size_t first, size_t count, PeerState* states, bool* read) {
  *read = false;
  auto left = static_cast<int>(got);
  auto* header = reinterpret_cast<nlmsghdr*>(buffer);
  if (!NLMSG_OK(header, left) || header->nlmsg_seq < first || header->nlmsg_seq >= first + count) return 0;
  PeerState& state = states[header->nlmsg_seq];
  if (header->nlmsg_type == NLMSG_ERROR) {
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(nlmsgerr))) return EPROTO;
    int error = -static_cast<nlmsgerr*>(NLMSG_DATA(header))->error;
    if (error != ENOENT) return error > 0 ? error : EPROTO;
    state = PeerState::kUnknown;
  } else {
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg))) return EPROTO;
    // Without a connection the kernel answers with the socket that listens there.
    auto tcp = static_cast<inet_diag_msg*>(NLMSG_DATA(header))->idiag_state;
    state = tcp == TCP_CLOSE_WAIT                   ? PeerState::kClosed
            : tcp == TCP_LISTEN || tcp == TCP_CLOSE ? PeerState::kUnknown
                                                    : PeerState::kOpen;
  }
  *read = true;
  return 0;
}

int readAnswers(int fd, size_t first, size_t count, PeerState* states) {
  alignas(nlmsghdr) char buffers[kBatch][kAnswerBytes];
  for (size_t answered = 0; answered < count;) {
    iovec pieces[kBatch];
    mmsghdr messages[kBatch]{};
    sockaddr_nl from[kBatch]{};
    size_t wanted = count - answered;
    for (size_t i = 0; i < wanted; i++) {
      pieces[i] = {buffers[i], kAnswerBytes};
      messages[i].msg_hdr.msg_name = &from[i];
      messages[i].msg_hdr.msg_namelen = sizeof from[i];
      messages[i].msg_hdr.msg_iov = &pieces[i];
      messages[i].msg_hdr.msg_iovlen = 1;
    }
    // The kernel answers within the call that asks, so there is never anything to wait for.
    int got = recvmmsg(fd, messages, static_cast<unsigned>(wanted), MSG_DONTWAIT, nullptr);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EIO;
    for (int i = 0; i < got; i++) {
      if ((messages[i].msg_hdr.msg_flags & MSG_TRUNC) != 0) return EMSGSIZE;
      if (from[i].nl_pid != 0) continue;  // not the kernel
      bool read = false;
      int error = readAnswer(buffers[i], messages[i].msg_len, first, count, states, &read);
      if (error != 0) return error;
      if (read) answered++;
    }
  }
  return 0;
}

int findBatch(int fd, const Connection* connections, size_t first, size_t count, PeerState* states) {
  Lookup lookups[kBatch];
  for (size_t i = 0; i < count; i++) lookups[i] = lookup(connections[first + i], first + i);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  size_t bytes = count * sizeof(Lookup);
  ssize_t sent = sendto(fd, lookups, bytes, 0, reinterpret_cast<sockaddr*>(&kernel), sizeof kernel);
  if (sent != static_cast<ssize_t>(bytes)) return sent < 0 ? errno : EIO;
  return readAnswers(fd, first, count, states);
}

}  // namespace

int findPeerStates(const Connection* connections, size_t count, PeerState* states) {
  // A socket of its own for each call: one that is given up half-way leaves nothing behind.
  Descriptor netlink(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (netlink.get() < 0) return errno;
  int error = 0;
  for (size_t first = 0; error == 0 && first < count; first += kBatch) {
    error = findBatch(netlink.get(), connections, first, std::min(kBatch, count - first), states);
  }
  return error;
}

}  // namespace dynamo
