package io.dynamo.frontend.grpc;

import io.dynamo.frontend.kserve.InferCalls;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Reads who makes a call, and how long it waits. */
final class CallMetadata {
  private CallMetadata() {}

  /** The caller of the call whose context is current. */
  static InferCalls.Caller caller(ServerCall<?, ?> call, Metadata metadata) {
    var deadline = Context.current().getDeadline();
    return new InferCalls.Caller(
        headers(metadata),
        address(call.getAttributes().get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR)),
        address(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR)),
        deadline == null
            ? null
            : Duration.ofNanos(Math.max(1, deadline.timeRemaining(TimeUnit.NANOSECONDS))));
  }

  private static Map<String, String> headers(Metadata metadata) {
    var headers = new HashMap<String, String>();
    for (var name : metadata.keys()) {
      if (!name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
        var values = metadata.getAll(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
        if (values != null) {
          headers.put(name, values.iterator().next());
        }
      }
    }
    return headers;
  }

  private static InetSocketAddress address(@Nullable SocketAddress address) {
    return address instanceof InetSocketAddress known
        ? known
        : new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }
}
