package io.dynamo.wire.request;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The headers of a request frame: one JSON object of strings, all of them optional.
 *
 * @param more headers beyond the plane's own
 * @param sentUnixNanos the requester's wall-clock time of sending; 0 when it was not sent
 */
public record RequestHeaders(Map<String, String> more, long sentUnixNanos) {
  private static final String REQUEST_ID = "request-id";
  private static final String PATH = "x-endpoint-path";
  private static final String SENT = "x-frontend-send-ts-ns";

  static {
    Keys.expect(REQUEST_ID, PATH, SENT, "traceparent", "tracestate", "x-request-id");
  }

  public RequestHeaders {
    more = Map.copyOf(more);
  }

  /**
   * @param sentUnixNanos wall-clock time of sending
   * @param more trace context and external ids
   */
  public static byte[] toJson(
      String requestId, String path, long sentUnixNanos, Map<String, String> more) {
    Map<String, String> all = new LinkedHashMap<>(); // in Dynamo's order
    all.put(REQUEST_ID, requestId);
    all.put(PATH, path);
    toMap(requestId, sentUnixNanos, more).forEach(all::putIfAbsent);
    return WireWriter.write(all, PayloadFormat.JSON, WireWriter::any);
  }

  /** Returns the headers as they are sent over NATS, which has no path. */
  public static Map<String, String> toMap(
      String requestId, long sentUnixNanos, Map<String, String> more) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put(REQUEST_ID, requestId);
    all.put(SENT, Long.toString(sentUnixNanos));
    more.forEach(all::putIfAbsent);
    return all;
  }

  /** Sorts out the headers of a request. */
  public static RequestHeaders of(Map<String, String> headers) {
    var all = new LinkedHashMap<>(headers);
    all.remove(REQUEST_ID);
    all.remove(PATH);
    long sent = unixNanos(all.remove(SENT));
    return new RequestHeaders(all, sent);
  }

  /** Reads the headers of a frame; none when it is not JSON, as Dynamo reads it. */
  public static RequestHeaders ofJson(byte[] json) {
    try {
      var all =
          WireReader.read(
              "headers", ByteBuffer.wrap(json), PayloadFormat.JSON, ControlMessage::pairs);
      return of(all);
    } catch (InvalidRequestException e) {
      return new RequestHeaders(Map.of(), 0);
    }
  }

  private static long unixNanos(@Nullable String text) {
    try {
      return text == null ? 0 : Long.parseLong(text);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
