package io.dynamo.pipeline;

import java.nio.charset.StandardCharsets;

/**
 * The first header on a call-home connection: it names the stream.
 *
 * @param subject the name under which the requester expects the stream
 * @param streamType {@code response}, or {@code request} for the input of a bidirectional request
 */
public record Handshake(String subject, String streamType) {
  public static final String RESPONSE = "response";
  public static final String REQUEST = "request";

  byte[] toJson() {
    return ("{\"subject\":\""
            + escaped(subject)
            + "\",\"stream_type\":\""
            + escaped(streamType)
            + "\"}")
        .getBytes(StandardCharsets.UTF_8);
  }

  static Handshake ofJson(byte[] json) throws FrameException {
    var fields = FlatJson.strings(new String(json, StandardCharsets.UTF_8));
    var subject = fields.get("subject");
    var type = fields.get("stream_type");
    if (subject == null || type == null) {
      throw new FrameException("a handshake names no subject and stream_type");
    }
    return new Handshake(subject, type);
  }

  private static String escaped(String text) {
    var out = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ') {
        out.append("\\u%04x".formatted((int) c));
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }
}
