#include "../../main/c++/core/peer_states.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "check.h"

namespace {

dynamo::Endpoint endpointOf(int fd, int (*nameOf)(int, sockaddr*, socklen_t*)) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  CHECK(nameOf(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  dynamo::Endpoint end{ntohs(address.sin_port), {}};
  end.address[10] = end.address[11] = 0xff;
  for (size_t i = 0; i < 4; i++) {
    end.address[12 + i] = static_cast<uint8_t>(ntohl(address.sin_addr.s_addr) >> (24 - 8 * i));
  }
  return end;
}

dynamo::Connection connectionOf(int accepted) {
  return {endpointOf(accepted, getsockname), endpointOf(accepted, getpeername), 0};
}

/// Two connections to one server: their clients and what the server accepted.
struct Pair {
  int server, clients[2], accepted[2];

  Pair() : server(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    CHECK(listen(server, 8) == 0);
    socklen_t length = sizeof address;
    CHECK(getsockname(server, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    for (size_t i = 0; i < 2; i++) {
      clients[i] = socket(AF_INET, SOCK_STREAM, 0);
      CHECK(connect(clients[i], reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
      accepted[i] = accept(server, nullptr, nullptr);
      CHECK(accepted[i] >= 0);
    }
  }
  ~Pair() {
    for (int fd : accepted) close(fd);
    close(clients[1]);
    close(server);
  }
};

void awaitEvent(int fd) {
  pollfd readable{fd, POLLIN, 0};
  CHECK(poll(&readable, 1, 5000) == 1);
}

void aPeerIsOpenUntilItClosesAndUnknownAfterAReset() {
  for (bool reset : {false, true}) {
    Pair pair;
    // More than one batch, the connections of interest at both ends.
    std::vector<dynamo::Connection> asked(150, connectionOf(pair.accepted[1]));
    asked.front() = connectionOf(pair.accepted[0]);
    asked[70].remote.port = 1;  // there is none from port 1
    std::vector<dynamo::PeerState> states(asked.size());
    int error = dynamo::findPeerStates(asked.data(), asked.size(), states.data());
    if (error != 0) {
      std::printf("skipped: this kernel answers no sock_diag request (errno %d)\n", error);
      close(pair.clients[0]);
      return;
    }
    CHECK(states.front() == dynamo::PeerState::kOpen);
    CHECK(states[70] == dynamo::PeerState::kUnknown);
    CHECK(states.back() == dynamo::PeerState::kOpen);
    linger now{1, 0};
    if (reset) CHECK(setsockopt(pair.clients[0], SOL_SOCKET, SO_LINGER, &now, sizeof now) == 0);
    close(pair.clients[0]);
    awaitEvent(pair.accepted[0]);
    CHECK(dynamo::findPeerStates(asked.data(), asked.size(), states.data()) == 0);
    CHECK(states.front() == (reset ? dynamo::PeerState::kUnknown : dynamo::PeerState::kClosed));
    CHECK(states.back() == dynamo::PeerState::kOpen);
  }
}

void nothingIsAskedForNoConnection() { CHECK(dynamo::findPeerStates(nullptr, 0, nullptr) == 0); }

}  // namespace

void peerStatesTests() {
  aPeerIsOpenUntilItClosesAndUnknownAfterAReset();
  nothingIsAskedForNoConnection();
}
