package io.dynamo.pipeline.http;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import java.util.Map;

/**
 * A request to a server. The array is owned by the record and never changed.
 *
 * @param method GET or POST
 * @param target path and query
 * @param isRepeatable whether the server may receive it twice without harm: it is sent again, once,
 *     when a connection that served others before breaks before the answer begins
 */
public record ClientRequest(
    String method, String target, Map<String, String> headers, byte[] body, boolean isRepeatable) {
  public ClientRequest {
    headers = Map.copyOf(headers);
  }

  @Override
  public String toString() {
    return method + " " + target; // headers may have a key
  }

  FullHttpRequest to(String host) {
    var request =
        new DefaultFullHttpRequest(
            HttpVersion.HTTP_1_1, HttpMethod.valueOf(method), target, Unpooled.wrappedBuffer(body));
    request.headers().set(HttpHeaderNames.HOST, host);
    if (!method.equals(HttpMethod.GET.name())) {
      request.headers().set(HttpHeaderNames.CONTENT_LENGTH, body.length);
    }
    headers.forEach((name, value) -> request.headers().set(name, value));
    return request;
  }
}
