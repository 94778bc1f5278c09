#ifndef DYNAMO_TEST_CHECK_H_
#define DYNAMO_TEST_CHECK_H_

#include <cstdio>
#include <cstdlib>

/// Ends the process with the place and the text of a condition that does not hold.
#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)

void regionTests();
void lockedPagesTests();
void copyTests();
void crc32cTests();
void hangUpsTests();
void probeTests();
void moveTests();
void transfersTests();
void sharedMemoryTests();
void diskTests();
void faultTests();
void loanTests();
void loanProcessTests();
void nixlTests();
void ucxTests();
void cudaTests();
void cudaFaultTests();

/// What of cudaTests() runs on a GPU.
void cudaDeviceTests();
/// Prints rates of copies of a GPU as CSV.
void cudaBench();

/// The other process of loanProcessTests(): this program with a first argument.
int loanPeer(int count, char** arguments);

#endif  // DYNAMO_TEST_CHECK_H_
