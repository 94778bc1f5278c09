#include "channel.h"

#include <algorithm>
#include <cstring>

namespace dynamo::ucx {
namespace {

constexpr unsigned kMostTransports = 16;

}  // namespace

std::unique_ptr<Channel> Channel::open(const Capi& capi, UcpContext context, Worker& worker,
                                       const std::string& offered, const Offer& offer, UcpStatus* status) {
  std::unique_ptr<Channel> made(new Channel(capi, offered, offer));
  made->inbox_ =
      Page::make(capi, context, UcpMemoryParams::kLocalRead | UcpMemoryParams::kLocalWrite, status);
  if (made->inbox_.registered == nullptr) return nullptr;
  std::memset(made->inbox_.bytes.get(), 0, Page::kBytes);
  UcpEndpointParams params{};
  params.mask =
      UcpEndpointParams::kHasAddress | UcpEndpointParams::kHasErrorMode | UcpEndpointParams::kHasErrorHandler;
  params.address = offer.worker.data();
  params.errorMode = UcpEndpointParams::kPeerErrors;
  params.onError = &Channel::broken;
  params.onErrorArgument = made.get();
  UcpEndpoint endpoint = nullptr;
  *status = capi.ucp_ep_create(worker.handle(), &params, &endpoint);
  if (*status != kUcpOk) return nullptr;
  made->endpoint_ = endpoint;
  *status = capi.ucp_ep_rkey_unpack(endpoint, offer.regionKey.data(), &made->regionKey_);
  if (*status == kUcpOk) {
    *status = capi.ucp_ep_rkey_unpack(endpoint, offer.proofKey.data(), &made->proofKey_);
  }
  made->fail(*status);  // an endpoint that is there has to be closed by its owner
  return made;
}

void Channel::releaseKeys() {
  for (UcpKey* key : {&regionKey_, &proofKey_}) {
    if (*key != nullptr) capi_.ucp_rkey_destroy(*key);
    *key = nullptr;
  }
}

void Channel::ended(UcpRequest request, UcpStatus status, void* channel) {
  auto* self = static_cast<Channel*>(channel);
  self->pending_--;
  if (status != kUcpOk) self->fail(status);
  self->capi_.ucp_request_free(request);
}

void Channel::broken(void* channel, UcpEndpoint, UcpStatus status) {
  static_cast<Channel*>(channel)->fail(status);
}

void Channel::started(UcpRequest request) {
  if (isError(request)) {
    fail(errorOf(request));
  } else if (request != nullptr) {
    pending_++;
  }
}

void Channel::readProof() {
  UcpRequestParams params{};
  params.mask =
      UcpRequestParams::kHasCallback | UcpRequestParams::kHasUserData | UcpRequestParams::kHasMemory;
  params.callback = &Channel::ended;
  params.userData = this;
  params.memory = inbox_.registered->memory();
  std::memset(inbox_.bytes.get(), 0, sizeof(Proof));
  started(capi_.ucp_get_nbx(endpoint_, inbox_.bytes.get(), sizeof(Proof), proofAt_, proofKey_, &params));
}

void Channel::write(const std::byte* from, uint64_t length, UcpMemory memory, uint64_t offset) {
  UcpRequestParams params{};
  params.mask =
      UcpRequestParams::kHasCallback | UcpRequestParams::kHasUserData | UcpRequestParams::kHasMemory;
  params.callback = &Channel::ended;
  params.userData = this;
  params.memory = memory;
  started(capi_.ucp_put_nbx(endpoint_, from, length, base_ + offset, regionKey_, &params));
  if (failure_ != kUcpOk) return;
  params.mask = UcpRequestParams::kHasCallback | UcpRequestParams::kHasUserData;
  started(capi_.ucp_ep_flush_nbx(endpoint_, &params));
}

Proof Channel::proof() const {
  Proof read;
  std::memcpy(read.data(), inbox_.bytes.get(), read.size());
  return read;
}

std::string Channel::transports() const {
  UcpTransport transports[kMostTransports] = {};
  UcpEndpointFacts facts{};
  facts.mask = UcpEndpointFacts::kTransports;
  facts.transports = transports;
  facts.transportCount = kMostTransports;
  facts.transportBytes = sizeof(UcpTransport);
  std::string names;
  if (capi_.ucp_ep_query(endpoint_, &facts) != kUcpOk) return names;
  for (unsigned i = 0; i < std::min(facts.transportCount, kMostTransports); i++) {
    if (transports[i].transport == nullptr) continue;
    names += (names.empty() ? "" : ",") + std::string(transports[i].transport);
  }
  return names;
}

void Channel::close() {
  if (endpoint_ == nullptr) return;
  UcpRequestParams params{};
  params.mask = UcpRequestParams::kHasFlags;
  params.flags = UcpRequestParams::kForce;
  UcpRequest request = capi_.ucp_ep_close_nbx(endpoint_, &params);
  endpoint_ = nullptr;
  if (!isError(request)) closing_ = request;
}

bool Channel::isClosed() {
  if (closing_ != nullptr && capi_.ucp_request_check_status(closing_) != kUcpInProgress) {
    capi_.ucp_request_free(closing_);
    closing_ = nullptr;
  }
  return endpoint_ == nullptr && closing_ == nullptr && pending_ == 0;
}

}  // namespace dynamo::ucx
