package io.dynamo.frontend.media;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Fuzz target: any bytes as a data URL, as a URL, as an image and as an answer of an HTTP server.
 * They are read or refused, in bounded memory.
 */
public final class MediaReadersFuzz {
  private static final int MOST = 1 << 16;

  private MediaReadersFuzz() {}

  /** Called by the fuzzer and by the replay of the corpus. */
  public static void fuzzerTestOneInput(byte[] input) {
    var text = new String(input, StandardCharsets.ISO_8859_1);
    try {
      var data = DataUrl.parse(text);
      if (data.decode(MOST).length > MOST || !DataUrl.isType(data.type())) {
        throw new IllegalStateException("a data URL beyond its bound");
      }
    } catch (MediaException refused) {
      // well refused
    }
    try {
      var url = MediaUrl.parse(text, null);
      if (url.target().chars().anyMatch(c -> c <= ' ') || url.authority().isEmpty()) {
        throw new IllegalStateException("a URL that would break its request: " + url);
      }
    } catch (MediaException refused) {
      // well refused
    }
    var header = ImageHeader.of(input);
    if (header != null && header.pixels() < 1) {
      throw new IllegalStateException("an image without pixels");
    }
    try {
      var reply = HttpReply.read(new ByteArrayInputStream(input));
      var piece = new byte[1024];
      int total = 0;
      for (int n = reply.read(piece, 0, piece.length);
          n >= 0;
          n = reply.read(piece, 0, piece.length)) {
        total += n;
        if (n == 0 || total > input.length) {
          throw new IllegalStateException("a body longer than what came");
        }
      }
    } catch (IOException refused) {
      // well refused
    }
  }
}
