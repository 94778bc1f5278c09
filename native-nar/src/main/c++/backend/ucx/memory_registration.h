#ifndef DYNAMO_BACKEND_UCX_MEMORY_REGISTRATION_H_
#define DYNAMO_BACKEND_UCX_MEMORY_REGISTRATION_H_

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "capi.h"

namespace dynamo::ucx {

/// Memory of the host that UCX has registered, until the end of this.
class MemoryRegistration {
 public:
  /// Null when UCX refuses, with its status.
  static std::unique_ptr<MemoryRegistration> map(const Capi& capi, UcpContext context, void* base,
                                                 size_t bytes, unsigned protection, UcpStatus* status) {
    UcpMemoryParams params{};
    params.mask = UcpMemoryParams::kHasAddress | UcpMemoryParams::kHasLength |
                  UcpMemoryParams::kHasProtection | UcpMemoryParams::kHasType;
    params.address = base;
    params.length = bytes;
    params.protection = protection;
    params.type = UcpMemoryParams::kHost;
    UcpMemory memory = nullptr;
    *status = capi.ucp_mem_map(context, &params, &memory);
    if (*status != kUcpOk) return nullptr;
    return std::unique_ptr<MemoryRegistration>(new MemoryRegistration(capi, context, memory));
  }

  ~MemoryRegistration() { capi_.ucp_mem_unmap(context_, memory_); }
  MemoryRegistration(const MemoryRegistration&) = delete;
  MemoryRegistration& operator=(const MemoryRegistration&) = delete;

  UcpMemory memory() const { return memory_; }

  /// The key by which other processes reach the memory; empty when UCX refuses.
  std::string key() const {
    void* packed = nullptr;
    size_t size = 0;
    if (capi_.ucp_rkey_pack(context_, memory_, &packed, &size) != kUcpOk) return {};
    std::string key(static_cast<const char*>(packed), size);
    capi_.ucp_rkey_buffer_release(packed);
    return key;
  }

 private:
  MemoryRegistration(const Capi& capi, UcpContext context, UcpMemory memory)
      : capi_(capi), context_(context), memory_(memory) {}

  const Capi& capi_;
  UcpContext context_;
  UcpMemory memory_;
};

/// A page of its own for what is read and published beside regions, registered.
struct Page {
  static constexpr size_t kBytes = 4096;

  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };

  static Page make(const Capi& capi, UcpContext context, unsigned protection, UcpStatus* status) {
    Page page;
    page.bytes.reset(static_cast<std::byte*>(std::aligned_alloc(kBytes, kBytes)));
    *status = kUcpNoMemory;
    if (page.bytes != nullptr) {
      page.registered = MemoryRegistration::map(capi, context, page.bytes.get(), kBytes, protection, status);
    }
    return page;
  }

  std::unique_ptr<std::byte, Free> bytes;
  std::unique_ptr<MemoryRegistration> registered;  ///< null when it could not be made; ends before the bytes
};

}  // namespace dynamo::ucx

#endif  // DYNAMO_BACKEND_UCX_MEMORY_REGISTRATION_H_
