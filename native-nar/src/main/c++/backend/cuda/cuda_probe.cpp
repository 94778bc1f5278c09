#include "cuda_probe.h"

#include "../../core/json.h"

namespace dynamo::cuda {
namespace {

struct SystemDriver {
  std::shared_ptr<const Driver> driver;
  std::string why;

  SystemDriver() { driver = Driver::open(Driver::kLibrary, &why); }
};

/// The devices' names, without opening them: a context takes memory and time.
std::string devicesJson(const Driver& driver) {
  const Functions& call = driver.functions();
  std::string json;
  for (int i = 0; i < driver.deviceCount(); i++) {
    DeviceOrdinal device = 0;
    char name[256] = "";
    size_t bytes = 0;
    int major = 0;
    int minor = 0;
    Result result = call.deviceGet(&device, i);
    if (result == kSuccess) result = call.deviceGetName(name, sizeof name - 1, device);
    if (result == kSuccess) result = call.deviceTotalMem(&bytes, device);
    if (result == kSuccess) result = call.deviceGetAttribute(&major, kAttributeMajor, device);
    if (result == kSuccess) result = call.deviceGetAttribute(&minor, kAttributeMinor, device);
    json += (json.empty() ? "{\"name\":" : ",{\"name\":") + quoted(name) +
            ",\"bytes\":" + std::to_string(bytes) +
            ",\"compute_capability\":" + quoted(std::to_string(major) + "." + std::to_string(minor));
    if (result != kSuccess) json += ",\"reason\":" + quoted(driver.describe(result));
    json += '}';
  }
  return json;
}

}  // namespace

std::shared_ptr<const Driver> systemDriver(std::string* why) {
  static const SystemDriver& only = *new SystemDriver;
  if (only.driver == nullptr) *why = only.why;
  return only.driver;
}

std::string cudaJson() {
  std::string why;
  auto driver = systemDriver(&why);
  std::string head = "{\"for\":\"cuda\",\"name\":" + quoted(Driver::kLibrary) + ",\"present\":";
  if (driver == nullptr) return head + "false,\"reason\":" + quoted(why) + "}";
  std::string missing;
  for (const auto& name : driver->missing()) missing += (missing.empty() ? "" : ",") + quoted(name);
  return head + "true,\"version\":" + std::to_string(driver->version()) + ",\"missing\":[" + missing +
         "],\"devices\":[" + devicesJson(*driver) + "]}";
}

}  // namespace dynamo::cuda
