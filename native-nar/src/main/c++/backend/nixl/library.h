#ifndef DYNAMO_BACKEND_NIXL_LIBRARY_H_
#define DYNAMO_BACKEND_NIXL_LIBRARY_H_

#include <string>
#include <vector>

#include "capi.h"

namespace dynamo::nixl {

/// A NIXL library in this process. It is never closed: it starts threads that do not survive its end.
struct Library {
  std::string path;
  Capi capi;
};

/// Opens the first of `candidates` (paths, or bare names that the loader looks for) that is a NIXL library
/// with all functions, or finds it among those that are open. Returns null when there is none; `*why` is then
/// the reason for each candidate.
/// `pluginFolder` is where it looks for its plug-ins; empty for the folder beside it.
/// Safe for concurrent use; may take long, since it maps what the library needs.
const Library* openLibrary(const std::vector<std::string>& candidates, const std::string& pluginFolder,
                           std::string* why);

/// The plug-ins that a library finds, as a JSON object in ASCII:
/// {"present":true,"path":"…","plugins":["UCX"]} or {"present":false,"reason":"…"}
std::string probeLibrary(const std::vector<std::string>& candidates, const std::string& pluginFolder);

}  // namespace dynamo::nixl

#endif  // DYNAMO_BACKEND_NIXL_LIBRARY_H_
