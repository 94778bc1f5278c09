#include "environment.h"

#include <cstdlib>
#include <mutex>

namespace dynamo::ucx {

void prepareEnvironment() {
  static std::once_flag once;
  std::call_once(once, [] {
    setenv("UCX_ERROR_SIGNALS", "", 1);           // the JVM needs its own handlers
    setenv("UCX_MEM_MMAP_HOOK_MODE", "none", 0);  // or it patches mmap and munmap of the whole process
    setenv("UCX_LOG_FILE", "stderr", 0);          // the standard output belongs to the program
  });
}

}  // namespace dynamo::ucx
