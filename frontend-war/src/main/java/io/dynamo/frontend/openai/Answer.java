package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Where the one answer of a request goes. Exactly one method is called, once, by the thread that
 * serves the request; it returns when everything is written, and throws {@link
 * java.io.UncheckedIOException} when the connection is gone.
 */
interface Answer {
  /** Writes a stream's body. */
  @FunctionalInterface
  interface Body {
    void writeTo(OutputStream out) throws IOException;
  }

  void error(ApiError error);

  void json(byte[] body);

  /** Sends the status line and headers of an event stream with the first bytes of {@code body}. */
  void events(Body body);
}
