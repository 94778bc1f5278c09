package io.dynamo.request.tcp;

import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.request.RequestContext;
import io.dynamo.wire.request.ConnectionInfo;
import io.dynamo.wire.request.ControlMessage;
import io.dynamo.wire.request.RequestHeaders;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A request ready to be sent: the worker's address and the frame.
 *
 * @param headers of a carried request; those of others are in the frame
 */
record OutgoingRequest(TransportAddress to, Map<String, String> headers, RequestFrame frame) {
  /**
   * @param home where the worker delivers the answer
   * @param input where the worker fetches the items of the request; null when {@code body} is the
   *     request
   * @param body in the instance's format
   */
  static OutgoingRequest of(
      Instance instance,
      RequestContext context,
      ConnectionInfo home,
      @Nullable ConnectionInfo input,
      byte[] body) {
    var control =
        new ControlMessage(
            context.id(),
            input == null ? ControlMessage.SINGLE_IN : ControlMessage.MANY_IN,
            instance.format(),
            home,
            context.metadata(),
            input);
    var now = Instant.now();
    long sentNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    return switch (instance.transport()) {
      case TransportAddress.Tcp tcp ->
          new OutgoingRequest(
              tcp,
              Map.of(),
              new RequestFrame(
                  tcp.path().getBytes(StandardCharsets.UTF_8),
                  RequestHeaders.toJson(context.id(), tcp.path(), sentNanos, context.headers()),
                  control.toJson(),
                  body));
      case TransportAddress.Nats _, TransportAddress.Http2 _ ->
          new OutgoingRequest(
              instance.transport(),
              RequestHeaders.toMap(context.id(), sentNanos, context.headers()),
              RequestFrame.ofPayload(control.toJson(), body));
      case TransportAddress.Several several -> throw several.unchosen();
    };
  }

  /**
   * Returns the address on which a worker listens.
   *
   * @throws WorkerLostException when it cannot be parsed
   */
  static InetSocketAddress address(TransportAddress.Tcp worker) {
    try {
      return SocketAddresses.parse(worker.address());
    } catch (IllegalArgumentException e) {
      throw new WorkerLostException(ErrorCode.CANNOT_CONNECT, String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * Checks the size of the frame and of its parts.
   *
   * @throws InvalidRequestException when the frame exceeds {@code maxBytes}, or a part exceeds its
   *     length field or the worker's limit; nothing of such a frame may reach a shared connection
   */
  void check(int maxBytes) {
    atMost(
        "request frame",
        frame.length(),
        "dynamo.request.tcp.max-frame of ",
        maxBytes,
        "raise it on both sides or shorten the prompt");
    atMost("endpoint path", frame.path().length, "", RequestFrame.MAX_PATH, "use shorter names");
    atMost(
        "request headers", frame.headers().length, "", RequestFrame.MAX_SHORT, "send shorter ones");
    atMost(
        "control message",
        frame.control().length,
        "",
        ControlMessage.MAX_BYTES,
        "send less metadata");
  }

  private static void atMost(String what, long bytes, String boundName, int bound, String remedy) {
    if (bytes > bound) {
      throw new InvalidRequestException(
          "%s of %d bytes exceeds %s%d bytes; %s".formatted(what, bytes, boundName, bound, remedy));
    }
  }
}
