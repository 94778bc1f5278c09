#include "../../main/c++/core/closed_peers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

namespace {

uint16_t portOf(int fd) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  CHECK(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  return ntohs(address.sin_port);
}

void aClosedPeerIsFoundUntilWeCloseToo() {
  int server = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK(listen(server, 8) == 0);
  uint16_t port = portOf(server);
  address.sin_port = htons(port);
  int client = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  uint16_t clientPort = portOf(client);
  int accepted = accept(server, nullptr, nullptr);
  CHECK(accepted >= 0);

  std::vector<dynamo::Peer> peers;
  int error = dynamo::findClosedPeers(port, 16, &peers);
  if (error != 0) {
    std::printf("skipped: this kernel answers no sock_diag request (errno %d)\n", error);
  } else {
    CHECK(peers.empty());
    close(client);
    pollfd readable{accepted, POLLIN, 0};
    CHECK(poll(&readable, 1, 5000) == 1);  // the end of the stream has arrived
    CHECK(dynamo::findClosedPeers(port, 16, &peers) == 0);
    CHECK(peers.size() == 1);
    CHECK(peers[0].port == clientPort);
    CHECK(peers[0].address[11] == 0xff && peers[0].address[12] == 127 && peers[0].address[15] == 1);
    peers.clear();
    CHECK(dynamo::findClosedPeers(port, 0, &peers) == 0);
    CHECK(peers.empty());
    client = -1;
  }
  close(accepted);
  CHECK(dynamo::findClosedPeers(port, 16, &peers) == error);
  CHECK(peers.empty());
  if (client >= 0) close(client);
  close(server);
}

}  // namespace

void closedPeersTests() { aClosedPeerIsFoundUntilWeCloseToo(); }
