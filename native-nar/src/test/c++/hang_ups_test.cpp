#include "../../main/c++/core/hang_ups.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "check.h"

namespace {

constexpr int kLong = 5000;  // milliseconds; what is waited for is there at once

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
    for (int fd : clients) {
      if (fd >= 0) close(fd);
    }
    close(server);
  }
  void hangUp(int client, bool reset) {
    linger now{1, 0};
    if (reset) CHECK(setsockopt(clients[client], SOL_SOCKET, SO_LINGER, &now, sizeof now) == 0);
    close(clients[client]);
    clients[client] = -1;
  }
};

std::unique_ptr<dynamo::HangUps> opened() {
  int error = 0;
  auto hangUps = dynamo::HangUps::open(&error);
  CHECK(hangUps != nullptr);
  return hangUps;
}

bool watch(dynamo::HangUps& hangUps, const dynamo::Connection& connection, uint64_t id) {
  bool scanned = false;
  return hangUps.watch(connection, id, &scanned);
}

uint64_t next(dynamo::HangUps& hangUps, int timeoutMillis) {
  uint64_t ids[4] = {};
  int count = hangUps.await(timeoutMillis, ids, 4);
  CHECK(count == 0 || count == 1);
  return count == 0 ? dynamo::HangUps::kNoId : ids[0];
}

void aPeerThatClosesOrResetsIsToldOnce() {
  for (bool reset : {false, true}) {
    Pair pair;
    auto hangUps = opened();
    CHECK(watch(*hangUps, connectionOf(pair.accepted[0]), 7));
    CHECK(watch(*hangUps, connectionOf(pair.accepted[1]), 8));
    CHECK(write(pair.clients[1], "x", 1) == 1);  // says nothing
    CHECK(next(*hangUps, 0) == dynamo::HangUps::kNoId);

    pair.hangUp(0, reset);

    CHECK(next(*hangUps, kLong) == 7);
    CHECK(next(*hangUps, 0) == dynamo::HangUps::kNoId);
  }
}

void earlierHangUpIsReported() {
  Pair pair;
  auto hangUps = opened();
  auto connection = connectionOf(pair.accepted[0]);
  pair.hangUp(0, false);
  char end;
  CHECK(read(pair.accepted[0], &end, 1) == 0);

  CHECK(watch(*hangUps, connection, 7));
  CHECK(next(*hangUps, kLong) == 7);
  CHECK(watch(*hangUps, connection, 9));
  CHECK(next(*hangUps, kLong) == 9);
}

void aLaterIdTakesThePlaceOfTheFirst() {
  Pair pair;
  auto hangUps = opened();
  auto connection = connectionOf(pair.accepted[0]);
  CHECK(watch(*hangUps, connection, 7));
  CHECK(watch(*hangUps, connection, 8));
  pair.hangUp(0, false);
  CHECK(next(*hangUps, kLong) == 8);
  CHECK(next(*hangUps, 0) == dynamo::HangUps::kNoId);
}

void aDescriptorThatBecameAnotherConnectionIsNotTakenForTheFirst() {
  Pair pair;
  auto hangUps = opened();
  auto first = connectionOf(pair.accepted[0]);
  auto second = connectionOf(pair.accepted[1]);
  CHECK(watch(*hangUps, first, 7));
  CHECK(dup2(pair.accepted[1], pair.accepted[0]) == pair.accepted[0]);
  CHECK(!watch(*hangUps, first, 8));
  CHECK(watch(*hangUps, second, 9));
}

void absentConnectionIsScannedForOnce() {
  Pair pair;
  auto hangUps = opened();
  auto absent = connectionOf(pair.accepted[0]);
  absent.remote.port = 1;
  bool scanned = false;
  CHECK(!hangUps->watch(absent, 7, &scanned));
  CHECK(scanned);
  CHECK(hangUps->watch(connectionOf(pair.accepted[0]), 8, &scanned));  // by the scan for the other
}

void aWakeEndsTheWait() {
  auto hangUps = opened();
  std::thread other([&] { hangUps->wake(); });
  CHECK(next(*hangUps, -1) == dynamo::HangUps::kNoId);
  other.join();
  hangUps->wake();
  hangUps->wake();
  CHECK(next(*hangUps, -1) == dynamo::HangUps::kNoId);
}

void nothingStaysOpen() {
  int before = open("/dev/null", O_RDONLY);
  close(before);
  for (int i = 0; i < 100; i++) opened();
  int after = open("/dev/null", O_RDONLY);
  close(after);
  CHECK(after == before);
}

}  // namespace

void hangUpsTests() {
  aPeerThatClosesOrResetsIsToldOnce();
  earlierHangUpIsReported();
  aLaterIdTakesThePlaceOfTheFirst();
  aDescriptorThatBecameAnotherConnectionIsNotTakenForTheFirst();
  absentConnectionIsScannedForOnce();
  aWakeEndsTheWait();
  nothingStaysOpen();
}
