#include "../../main/c++/core/move.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "check.h"

namespace {

/// Every way copies exactly the bytes asked for, at any alignment and length.
void everyWayCopiesWhatMemcpyDoes() {
  constexpr size_t kRoom = 100'000;
  std::mt19937 random(7);
  std::vector<std::byte> source(kRoom);
  for (auto& b : source) b = static_cast<std::byte>(random());
  for (const auto& way : dynamo::moveWays()) {
    for (int round = 0; round < 80; round++) {
      size_t length = round < 60 ? random() % 700 : random() % 99'000;
      size_t from = random() % 200;
      size_t to = random() % 200;
      std::vector<std::byte> target(kRoom, std::byte{0x5a});
      auto expected = target;
      std::memcpy(&expected[to], &source[from], length);
      way.copy(&target[to], &source[from], length);
      CHECK(std::memcmp(target.data(), expected.data(), kRoom) == 0);  // quick under sanitizers, too
    }
  }
}

void theLastWayIsAlwaysThere() {
  CHECK(std::strcmp(dynamo::moveWays().back().name, "memcpy") == 0);
  std::vector<std::byte> source(dynamo::kStreamBytes + 3, std::byte{9});
  std::vector<std::byte> target(source.size());
  dynamo::moveBytes(target.data(), source.data(), source.size());
  CHECK(target == source);
}

}  // namespace

void moveTests() {
  everyWayCopiesWhatMemcpyDoes();
  theLastWayIsAlwaysThere();
}
