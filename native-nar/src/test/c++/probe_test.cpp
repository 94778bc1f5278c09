#include "../../main/c++/core/probe.h"

#include <cstdlib>
#include <cstring>

#include "check.h"

void probeTests() {
  std::string json = dynamo::probeJson();
  for (const char* part :
       {"\"crc32c\":\"", "\"copy\":\"", "\"shared_memory\":{\"present\":true}",
        "\"pinned_soft\":{\"present\":", "\"io_uring\":{\"present\":", "\"fault\":{\"contexts\":0}",
        "\"for\":\"cuda\"", "\"for\":\"ucx\"", "\"for\":\"nixl\""}) {
    CHECK(json.find(part) != std::string::npos);
  }
  const char* signals = std::getenv("UCX_ERROR_SIGNALS");
  CHECK(signals != nullptr && std::strlen(signals) == 0);
}
