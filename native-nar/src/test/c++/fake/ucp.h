#ifndef DYNAMO_TEST_FAKE_UCP_H_
#define DYNAMO_TEST_FAKE_UCP_H_

/// What the fake libucp does wrong, from its next call on.
enum FakeUcpFault : int {
  kUcpSound = 0,
  kUcpRefusesEndpoints,  ///< every new endpoint is unreachable
  kUcpFailsPuts,         ///< a put answers an error
  kUcpLosesPeers,        ///< a put breaks its connection
  kUcpStandsStill,       ///< nothing that was started ends, until its endpoint is closed
  kUcpRegistersNothing,  ///< no memory is registered
  kUcpCorruptsReads,     ///< a get brings other bytes
  kUcpStopsPuts,         ///< no put ends, until its endpoint is closed
  kUcpHangs,             ///< progress does not return, until there is another fault or none
};

#endif  // DYNAMO_TEST_FAKE_UCP_H_
