#include "check.h"

int main() {
  regionTests();
  copyTests();
  crc32cTests();
  peerStatesTests();
  probeTests();
  std::puts("all C++ tests passed");
}
