#include "check.h"

int main() {
  regionTests();
  copyTests();
  crc32cTests();
  hangUpsTests();
  probeTests();
  std::puts("all C++ tests passed");
}
