#include "check.h"

int main() {
  regionTests();
  copyTests();
  crc32cTests();
  hangUpsTests();
  probeTests();
  moveTests();
  transfersTests();
  std::puts("all C++ tests passed");
}
