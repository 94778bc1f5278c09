#ifndef DYNAMO_BACKEND_CUDA_CUDA_PROBE_H_
#define DYNAMO_BACKEND_CUDA_CUDA_PROBE_H_

#include <memory>
#include <string>

#include "driver.h"

namespace dynamo::cuda {

/// The driver that the process uses when nobody names another library; opened once. Null with a reason.
std::shared_ptr<const Driver> systemDriver(std::string* why);

/// What this machine's driver has, as JSON in ASCII, in the form of the probe's other libraries:
/// {"for":"cuda","name":"libcuda.so.1","present":true,"version":12080,"missing":[],"devices":[{"name":…}]}
std::string cudaJson();

}  // namespace dynamo::cuda

#endif  // DYNAMO_BACKEND_CUDA_CUDA_PROBE_H_
