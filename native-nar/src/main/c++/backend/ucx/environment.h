#ifndef DYNAMO_BACKEND_UCX_ENVIRONMENT_H_
#define DYNAMO_BACKEND_UCX_ENVIRONMENT_H_

namespace dynamo::ucx {

/// Sets the environment that UCX reads when it is mapped, on its own or below NIXL. The first call alone has
/// an effect: other threads of the process may read the environment later. Safe for concurrent use.
void prepareEnvironment();

}  // namespace dynamo::ucx

#endif  // DYNAMO_BACKEND_UCX_ENVIRONMENT_H_
