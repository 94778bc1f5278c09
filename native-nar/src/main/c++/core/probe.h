#ifndef DYNAMO_CORE_PROBE_H_
#define DYNAMO_CORE_PROBE_H_

#include <string>

namespace dynamo {

/// What this machine has, as a JSON object in ASCII:
/// {"crc32c":"sse4.2","copy":"avx2","fault":{"contexts":0},
///  "libraries":[{"for":"cuda","name":"libcuda.so.1","present":false,"reason":"…"}]}
std::string probeJson();

}  // namespace dynamo

#endif  // DYNAMO_CORE_PROBE_H_
