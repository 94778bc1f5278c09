#ifndef DYNAMO_BACKEND_UCX_LIBRARY_H_
#define DYNAMO_BACKEND_UCX_LIBRARY_H_

#include <string>
#include <vector>

#include "capi.h"

namespace dynamo::ucx {

/// A UCP library in this process. It is never closed: it has threads and handlers of its own.
struct Library {
  std::string path;
  std::string version;
  bool namesTransports;  ///< whether an endpoint can be asked for its transports
  Capi capi;
};

/// Opens the first of `candidates` (paths, or bare names that the loader looks for) that is a UCP library
/// with all functions, or finds it among those that are open. Returns null when there is none; `*why` is then
/// the reason for each candidate. Safe for concurrent use; may take long, since it maps what the library
/// needs.
const Library* openLibrary(const std::vector<std::string>& candidates, std::string* why);

/// Makes a context of the transports of a list of UCX's. Null with a reason when there is none to use.
UcpContext makeContext(const Capi& capi, const std::string& transports, std::string* why);

/// Whether the library is here and has a context for the transports, as a JSON object in ASCII:
/// {"present":true,"path":"…","version":"1.20.0"} or {"present":false,"reason":"…"}
std::string probeLibrary(const std::vector<std::string>& candidates, const std::string& transports);

}  // namespace dynamo::ucx

#endif  // DYNAMO_BACKEND_UCX_LIBRARY_H_
