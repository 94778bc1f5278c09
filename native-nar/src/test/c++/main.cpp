#include "check.h"

int main() {
  regionTests();
  copyTests();
  crc32cTests();
  closedPeersTests();
  probeTests();
  std::puts("all C++ tests passed");
}
