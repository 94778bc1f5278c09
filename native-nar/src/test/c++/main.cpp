#include "check.h"

int main(int count, char** arguments) {
  if (count > 1) return loanPeer(count, arguments);
  regionTests();
  copyTests();
  crc32cTests();
  hangUpsTests();
  probeTests();
  moveTests();
  transfersTests();
  sharedMemoryTests();
  diskTests();
  loanTests();
  loanProcessTests();
  nixlTests();
  cudaTests();
  cudaFaultTests();
  std::puts("all C++ tests passed");
}
