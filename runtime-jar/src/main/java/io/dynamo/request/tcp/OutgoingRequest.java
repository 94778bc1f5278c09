package io.dynamo.request.tcp;

import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.request.RequestContext;
import io.dynamo.request.codec.ConnectionInfo;
import io.dynamo.request.codec.ControlMessage;
import io.dynamo.request.codec.RequestHeaders;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * A request as it leaves: where to, and its bytes.
 *
 * @param worker listens there
 */
record OutgoingRequest(InetSocketAddress worker, RequestFrame frame) {
  /**
   * @param home where the worker delivers the answer
   * @param body the request, in the instance's format
   * @throws WorkerLostException when the instance's address is none
   */
  static OutgoingRequest of(
      Instance instance, RequestContext context, ConnectionInfo home, byte[] body) {
    var to =
        switch (instance.transport()) {
          case TransportAddress.Tcp tcp -> tcp;
        };
    var control =
        new ControlMessage(
            context.id(), ControlMessage.SINGLE_IN, instance.format(), home, context.metadata());
    var now = Instant.now();
    var headers =
        RequestHeaders.toJson(
            context.id(),
            to.path(),
            TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano(),
            context.headers());
    var path = to.path().getBytes(StandardCharsets.UTF_8);
    return new OutgoingRequest(
        address(to), new RequestFrame(path, headers, control.toJson(), body));
  }

  private static InetSocketAddress address(TransportAddress.Tcp worker) {
    try {
      return SocketAddresses.parse(worker.address());
    } catch (IllegalArgumentException e) {
      throw new WorkerLostException(ErrorCode.CANNOT_CONNECT, String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * @throws InvalidRequestException when the frame exceeds {@code maxBytes}
   */
  void check(int maxBytes) {
    if (frame.length() > maxBytes) {
      throw new InvalidRequestException(
          ("request frame of %d bytes exceeds dynamo.request.tcp.max-frame of %d bytes; raise it on"
                  + " both sides or shorten the prompt")
              .formatted(frame.length(), maxBytes));
    }
  }
}
