package io.dynamo.pipeline.http2;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Writes and reads the heads of requests and responses, and the trailers. */
final class Heads {
  static final String OK = "200";

  /** Present where the worker itself refuses a request, not something between. */
  private static final String REFUSAL = "dynamo-refusal";

  /** The trailer of an answer that is complete; its value is {@link #COMPLETE}. */
  private static final String END = "dynamo-end";

  private static final String COMPLETE = "complete";
  private static final int OVERHEAD = 32; // of a header field
  private static final String BINARY = "application/octet-stream";
  private static final String TEXT = "text/plain; charset=utf-8";
  private static final Set<String> OF_HTTP =
      Set.of(
          "accept",
          "accept-encoding",
          "content-length",
          "content-type",
          "host",
          "te",
          "user-agent");

  private Heads() {}

  static Http2Headers request(Http2Request request, String scheme, String authority) {
    var head =
        checked()
            .method("POST")
            .scheme(scheme)
            .authority(authority)
            .path(request.path())
            .add("content-type", BINARY);
    request.headers().forEach((name, value) -> head.add(name.toLowerCase(Locale.ROOT), value));
    return head;
  }

  /** Headers whose values come from elsewhere, and so are checked. */
  private static Http2Headers checked() {
    return new DefaultHttp2Headers(true, true, 16);
  }

  static Http2Headers accepted() {
    return new DefaultHttp2Headers().status(OK).add("content-type", BINARY);
  }

  static Http2Headers refused(int status) {
    return new DefaultHttp2Headers()
        .status(Integer.toString(status))
        .add("content-type", TEXT)
        .add(REFUSAL, "worker");
  }

  static boolean isRefusal(Http2Headers head) {
    return head.contains(REFUSAL);
  }

  static Http2Headers complete() {
    return new DefaultHttp2Headers().add(END, COMPLETE);
  }

  static boolean isComplete(Http2Headers trailers) {
    return trailers.contains(END, COMPLETE);
  }

  /** Returns the size of a request's path and headers, each counted as HTTP/2 does (RFC 9113). */
  static int bytes(String path, Map<String, String> headers) {
    int bytes = path.length();
    for (var header : headers.entrySet()) {
      bytes += header.getKey().length() + header.getValue().length() + OVERHEAD;
    }
    return bytes;
  }

  /** Returns the headers of a request that are not HTTP's own. */
  static Map<String, String> own(Http2Headers head) {
    var own = new HashMap<String, String>();
    for (var header : head) {
      var name = header.getKey().toString();
      if (!name.startsWith(":") && !OF_HTTP.contains(name)) {
        own.put(name, header.getValue().toString());
      }
    }
    return own;
  }
}
