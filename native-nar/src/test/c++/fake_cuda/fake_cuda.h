#ifndef DYNAMO_TEST_FAKE_CUDA_FAKE_CUDA_H_
#define DYNAMO_TEST_FAKE_CUDA_FAKE_CUDA_H_

#include <cstdint>

// The controls of the fake driver, beside the driver's own functions. Tests find them by name.
extern "C" {

/// Forgets failures, counts and the state of the GPU. `version` as of cuDriverGetVersion.
void fakeCudaReset(int version, int devices);
/// Makes the n-th call from now on of a function fail, by its exported name without a suffix.
void fakeCudaFail(const char* function, int nth, int error);
/// Makes the n-th work from now on of the GPU fail, which ends the context.
void fakeCudaFailWork(int nth, int error);
/// Lets the GPU do so many works, or all with -1.
void fakeCudaAllow(int64_t works);
/// Has cuGetProcAddress find nothing, as drivers before 12.0 do not have it.
void fakeCudaWithoutSearch(int without);
/// Lets a process import its own memory, which the driver refuses.
void fakeCudaImportOwn(int allowed);
int64_t fakeCudaCalls(const char* function);
/// Memory, streams, events, modules and contexts that were not given back.
int64_t fakeCudaLive();
/// Whether the GPU has work.
int fakeCudaBusy();
/// Uses that a driver may answer with anything: memory freed while in use, or twice; calls without a context.
int64_t fakeCudaViolations();
}

#endif  // DYNAMO_TEST_FAKE_CUDA_FAKE_CUDA_H_
