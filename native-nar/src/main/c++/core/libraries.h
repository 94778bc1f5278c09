#ifndef DYNAMO_CORE_LIBRARIES_H_
#define DYNAMO_CORE_LIBRARIES_H_

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace dynamo {

/// The libraries of one kind that were opened at run time. They are never closed: they have threads and
/// handlers of their own. Safe for concurrent use.
template <typename Library>
class Libraries {
 public:
  /// Returns the first of `candidates` (paths, or bare names that the loader looks for) that is one, or null
  /// with the reason for each.
  ///
  /// `resolve(handle, candidate, &reason)` returns a new Library, or null with a reason. Calls exclude each
  /// other; `prepare()` is called before any library is mapped.
  template <typename Prepare, typename Resolve>
  const Library* open(const std::vector<std::string>& candidates, const char* name, Prepare prepare,
                      Resolve resolve, std::string* why) {
    std::lock_guard<std::mutex> lock(mutex_);
    prepare();
    *why = candidates.empty() ? std::string("no place to look for ") + name + " was given" : "";
    for (const std::string& candidate : candidates) {
      auto before = open_.find(candidate);
      if (before != open_.end()) return before->second;
      std::string reason;
      void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
      if (handle == nullptr) {
        const char* said = dlerror();
        reason = said == nullptr ? "cannot be opened" : said;
      } else if (const Library* found = resolve(handle, candidate, &reason)) {
        open_[candidate] = found;
        return found;
      } else {
        reason = candidate + " " + reason;
      }
      if (why->size() < kLongestReason) *why += (why->empty() ? "" : "; ") + reason;
    }
    return nullptr;
  }

 private:
  static constexpr size_t kLongestReason = 2000;

  std::mutex mutex_;
  std::map<std::string, const Library*> open_;  // by the candidate that was given
};

}  // namespace dynamo

#endif  // DYNAMO_CORE_LIBRARIES_H_
