package io.dynamo.frontend.grpc;

import io.dynamo.frontend.kserve.InferCalls;
import io.grpc.Context;
import io.grpc.Deadline;
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
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The caller of a call, and how long it waits.
 *
 * @param headers by lower-case name; the first value of each
 * @param deadline null when the client set none
 */
record CallMetadata(
    Map<String, String> headers,
    InetSocketAddress local,
    InetSocketAddress remote,
    @Nullable Deadline deadline) {
  /** The names that gRPC has; HTTP/2 lets others through, which are of no use here. */
  private static final Pattern NAME = Pattern.compile("[0-9a-z_.-]+");

  CallMetadata {
    headers = Map.copyOf(headers);
  }

  /** Reads those of the call whose context is current. */
  static CallMetadata of(ServerCall<?, ?> call, Metadata metadata) {
    return new CallMetadata(
        headers(metadata),
        address(call.getAttributes().get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR)),
        address(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR)),
        Context.current().getDeadline());
  }

  /** The sender of a request that starts now. */
  InferCalls.Caller caller() {
    return new InferCalls.Caller(
        headers,
        local,
        remote,
        deadline == null
            ? null
            : Duration.ofNanos(Math.max(1, deadline.timeRemaining(TimeUnit.NANOSECONDS))));
  }

  static Map<String, String> headers(Metadata metadata) {
    var headers = new HashMap<String, String>();
    for (var name : metadata.keys()) {
      if (!name.endsWith(Metadata.BINARY_HEADER_SUFFIX) && NAME.matcher(name).matches()) {
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
