#include <cstring>

#include "check.h"

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "cuda-suite") == 0) {
    cudaDeviceTests();
    std::puts("all tests on the GPU passed");
    return 0;
  }
  if (count > 1 && std::strcmp(arguments[1], "cuda-bench") == 0) {
    cudaBench();
    return 0;
  }
  if (count > 1) return loanPeer(count, arguments);
  regionTests();
  lockedPagesTests();
  copyTests();
  crc32cTests();
  hangUpsTests();
  probeTests();
  moveTests();
  transfersTests();
  sharedMemoryTests();
  diskTests();
  faultTests();
  loanTests();
  loanProcessTests();
  nixlTests();
  ucxTests();
  cudaTests();
  cudaFaultTests();
  std::puts("all C++ tests passed");
}
