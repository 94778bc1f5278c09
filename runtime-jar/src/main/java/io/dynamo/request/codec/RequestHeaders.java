package io.dynamo.request.codec;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/** The headers of a request frame: one JSON object of strings, all of them optional. */
public final class RequestHeaders {
  private static final String REQUEST_ID = "request-id";
  private static final String PATH = "x-endpoint-path";
  private static final String SENT = "x-frontend-send-ts-ns";

  private RequestHeaders() {}

  /**
   * @param sentUnixNanos wall clock at send
   * @param more trace context and external ids
   */
  public static byte[] toJson(
      String requestId, String path, long sentUnixNanos, Map<String, String> more) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put(REQUEST_ID, requestId);
    all.put(PATH, path);
    all.put(SENT, Long.toString(sentUnixNanos));
    more.forEach(all::putIfAbsent);
    return WireWriter.write(all, PayloadFormat.JSON, WireWriter::any);
  }

  /**
   * What a frame carries beyond the plane's own; nothing when it is no JSON, as Dynamo reads it.
   */
  public static Map<String, String> ofJson(byte[] json) {
    try {
      var all =
          WireReader.read(
              "headers", ByteBuffer.wrap(json), PayloadFormat.JSON, ControlMessage::pairs);
      all.remove(REQUEST_ID);
      all.remove(PATH);
      all.remove(SENT);
      return all;
    } catch (InvalidRequestException e) {
      return Map.of();
    }
  }
}
