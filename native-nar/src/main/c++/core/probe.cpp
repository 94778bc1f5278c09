#include "probe.h"

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>
#include <mutex>

#include "../backend/cuda/cuda_probe.h"
#include "crc32c.h"
#include "disk_io.h"
#include "faults.h"
#include "json.h"
#include "locked_pages.h"
#include "move.h"
#include "shared_memory.h"
#include "status.h"

namespace dynamo {
namespace {

/// Opens the first of `names` that is there. Nothing is closed again: these libraries start threads and
/// register handlers, and do not survive being unmapped.
std::string libraryJson(const char* capability, std::initializer_list<const char*> names) {
  std::string reason;
  for (const char* name : names) {
    if (dlopen(name, RTLD_LAZY | RTLD_LOCAL) != nullptr) {
      return "{\"for\":" + quoted(capability) + ",\"name\":" + quoted(name) + ",\"present\":true}";
    }
    const char* said = dlerror();
    reason += (reason.empty() ? "" : "; ") + std::string(said == nullptr ? "unknown" : said);
  }
  return "{\"for\":" + quoted(capability) + ",\"name\":" + quoted(*names.begin()) +
         ",\"present\":false,\"reason\":" + quoted(reason) + "}";
}

/// Whether memory can be shared with other processes, by making some.
std::string sharedMemoryJson() {
  UniqueFd memory;
  Status status = createSharedMemory(1, &memory);
  if (status == Status::kOk) return "{\"present\":true}";
  return "{\"present\":false,\"reason\":" +
         quoted("the kernel gives no sealed memfd, status " + std::to_string(static_cast<int>(status))) + "}";
}

/// Whether memory can be locked in RAM, by locking a page, and how much of this process is.
std::string lockedMemoryJson() {
  LockedPages page;
  Status status = LockedPages::map(1, &page);
  bool isPresent = page.isLocked();
  page = LockedPages();
  LockedPages::Facts facts = LockedPages::facts();
  isPresent = isPresent || facts.lockedBytes != 0;  // the limit may be used up
  std::string json =
      "{\"present\":" + std::string(isPresent ? "true" : "false") +
      ",\"locked_bytes\":" + std::to_string(facts.lockedBytes) +
      ",\"unlocked_bytes\":" + std::to_string(facts.unlockedBytes) + ",\"limit_bytes\":" +
      (facts.limitBytes == LockedPages::kUnlimited ? "null" : std::to_string(facts.limitBytes));
  if (status != Status::kOk) {
    json += ",\"reason\":\"no memory for a page\"";
  } else if (!isPresent || facts.unlockedBytes != 0) {
    json += ",\"reason\":" +
            quoted("mlock: errno " + std::to_string(facts.refusal) + "; raise the limit of ulimit -l");
  }
  return json + "}";
}

/// Whether the kernel moves bytes to disks without a thread for each.
std::string ringJson() {
  std::unique_ptr<DiskIo> io;
  const char* why = nullptr;
  if (DiskIo::open(DiskIo::Way::kRing, &io, &why) == Status::kOk) return "{\"present\":true}";
  return "{\"present\":false,\"reason\":" + quoted(why) + "}";
}

}  // namespace

std::string probeJson() {
  // UCX installs signal handlers when it is mapped, and the JVM needs its own SIGSEGV handler.
  static std::once_flag ucxLeavesSignalsAlone;
  std::call_once(ucxLeavesSignalsAlone, [] { setenv("UCX_ERROR_SIGNALS", "", 1); });
  return "{\"crc32c\":" + quoted(crc32cWay()) + ",\"copy\":" + quoted(moveWays().front().name) +
         ",\"shared_memory\":" + sharedMemoryJson() + ",\"pinned_soft\":" + lockedMemoryJson() +
         ",\"io_uring\":" + ringJson() +
         ",\"fault\":{\"contexts\":" + std::to_string(FaultyContext::count()) + "},\"libraries\":[" +
         cuda::cudaJson() + "," + libraryJson("ucx", {"libucp.so.0"}) + "," +
         libraryJson("nixl", {"libnixl_capi.so.0", "libnixl_capi.so"}) + "]}";
}

}  // namespace dynamo
