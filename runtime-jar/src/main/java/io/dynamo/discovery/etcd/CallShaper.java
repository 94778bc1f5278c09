package io.dynamo.discovery.etcd;

import io.etcd.jetcd.api.LeaseGrantRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Adds to calls of etcd's client a deadline, so that none takes effect long after its caller has
 * given up, and the id of the lease to a grant. The process chooses that id, because it is its
 * instance id, which must outlive the lease: it is in the router's index and in every event.
 */
final class CallShaper implements ClientInterceptor {
  private final long leaseId;
  private final Duration callTimeout;

  CallShaper(long leaseId, Duration callTimeout) {
    this.leaseId = leaseId;
    this.callTimeout = callTimeout;
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    var bounded =
        method.getType() == MethodDescriptor.MethodType.UNARY && options.getDeadline() == null
            ? options.withDeadlineAfter(callTimeout.toNanos(), TimeUnit.NANOSECONDS)
            : options;
    var call = next.newCall(method, bounded);
    if (!method.getFullMethodName().endsWith("/LeaseGrant")) {
      return call;
    }
    return new SimpleForwardingClientCall<>(call) {
      @Override
      @SuppressWarnings("unchecked") // the same message type, with one field set
      public void sendMessage(Q message) {
        super.sendMessage(
            message instanceof LeaseGrantRequest grant
                ? (Q) grant.toBuilder().setID(leaseId).build()
                : message);
      }
    };
  }
}
