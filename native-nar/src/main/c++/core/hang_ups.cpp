#include "hang_ups.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace dynamo {
namespace {

constexpr size_t kEvents = 64;  // of one call; more come with the next

/// False for what is no address of TCP over IP.
bool read(const sockaddr_storage& from, Endpoint* end, uint32_t* interface) {
  if (from.ss_family == AF_INET) {
    auto& ipv4 = reinterpret_cast<const sockaddr_in&>(from);
    end->port = ntohs(ipv4.sin_port);
    end->address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    std::memcpy(&end->address[12], &ipv4.sin_addr, 4);
    return true;
  }
  if (from.ss_family == AF_INET6) {
    auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(from);
    end->port = ntohs(ipv6.sin6_port);
    std::memcpy(end->address.data(), &ipv6.sin6_addr, 16);
    *interface = std::max(*interface, ipv6.sin6_scope_id);
    return true;
  }
  return false;
}

/// False when `fd` is no connected socket of IP.
bool connectionOf(int fd, Connection* connection) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  connection->interface = 0;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      !read(address, &connection->remote, &connection->interface)) {
    return false;
  }
  length = sizeof address;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0 &&
         read(address, &connection->local, &connection->interface);
}

}  // namespace

size_t ConnectionHash::operator()(const Connection& connection) const {
  std::hash<std::string_view> bytes;
  auto of = [&](const Endpoint& end) {
    auto* from = reinterpret_cast<const char*>(end.address.data());
    return bytes({from, end.address.size()}) * 31 + end.port;
  };
  return of(connection.local) * 31 + of(connection.remote);
}

std::unique_ptr<HangUps> HangUps::open(int* error) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  int alarm = epoll < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event rung{};
  rung.events = EPOLLIN;
  rung.data.u64 = kNoId;
  if (alarm < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, alarm, &rung) != 0) {
    *error = errno;
    if (alarm >= 0) close(alarm);
    if (epoll >= 0) close(epoll);
    return nullptr;
  }
  return std::unique_ptr<HangUps>(new HangUps(epoll, alarm));
}

HangUps::~HangUps() {
  close(epoll_);
  close(alarm_);
}

bool HangUps::watch(const Connection& connection, uint64_t id, bool* scanned) {
  if (arm(connection, id)) return true;
  if (*scanned) return false;
  *scanned = true;
  scan();
  return arm(connection, id);
}

bool HangUps::arm(const Connection& connection, uint64_t id) {
  auto known = sockets_.find(connection);
  if (known == sockets_.end()) return false;
  Connection now{};
  if (!connectionOf(known->second, &now) || !(now == connection)) {
    sockets_.erase(known);  // closed since, and its descriptor perhaps another's
    return false;
  }
  epoll_event end{};
  end.events = EPOLLRDHUP | EPOLLONESHOT;  // errors and resets are told unasked
  end.data.u64 = id;
  // Should the descriptor become another connection's in this very moment, then this one is over, and so
  // is who asked for it: the id says nothing any more.
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, known->second, &end) == 0 ||
         (errno == EEXIST && epoll_ctl(epoll_, EPOLL_CTL_MOD, known->second, &end) == 0);
}

void HangUps::scan() {
  sockets_.clear();
  DIR* descriptors = opendir("/proc/self/fd");
  if (descriptors == nullptr) return;
  while (const dirent* entry = readdir(descriptors)) {
    char* rest = nullptr;
    long fd = std::strtol(entry->d_name, &rest, 10);
    Connection connection{};
    if (rest != entry->d_name && connectionOf(static_cast<int>(fd), &connection)) {
      sockets_[connection] = static_cast<int>(fd);
    }
  }
  closedir(descriptors);
}

int HangUps::await(int timeoutMillis, uint64_t* ids, size_t room) {
  epoll_event events[kEvents];
  int got = epoll_wait(epoll_, events, static_cast<int>(std::clamp(room, size_t{1}, kEvents)), timeoutMillis);
  if (got < 0) return errno == EINTR ? 0 : -errno;
  int count = 0;
  for (int i = 0; i < got; i++) {
    if (events[i].data.u64 != kNoId) {
      ids[count++] = events[i].data.u64;
    } else {
      uint64_t rings = 0;
      [[maybe_unused]] ssize_t heard = ::read(alarm_, &rings, sizeof rings);
    }
  }
  return count;
}

void HangUps::wake() {
  uint64_t once = 1;
  // Fails only when it has been rung 2^64 times unheard: it is heard all the same.
  [[maybe_unused]] ssize_t rung = write(alarm_, &once, sizeof once);
}

}  // namespace dynamo
