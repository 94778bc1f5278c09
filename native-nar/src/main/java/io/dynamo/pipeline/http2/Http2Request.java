package io.dynamo.pipeline.http2;

import java.util.Map;

/**
 * A request as it travels in one HTTP/2 stream.
 *
 * @param path with its leading slash
 * @param headers names in lower case; without pseudo headers and those of HTTP itself
 * @param control the header of the two-part frame in the body
 * @param body the body of that frame
 */
public record Http2Request(String path, Map<String, String> headers, byte[] control, byte[] body) {
  public Http2Request {
    headers = Map.copyOf(headers);
  }
}
