package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Sends the one answer of a request to its client. Exactly one method is called, once, by the
 * thread that serves the request; it returns when everything is written, and throws {@link
 * java.io.UncheckedIOException} when the connection is gone.
 */
interface AnswerSink {
  /** Writes a stream's body. */
  @FunctionalInterface
  interface StreamBody {
    void writeTo(OutputStream out) throws IOException;
  }

  void error(ApiError error);

  void json(byte[] body);

  /**
   * Sends bytes that are no text.
   *
   * @param metadata of the header {@code metadata}, in ASCII; null for none
   */
  default void bytes(byte[] body, @Nullable String metadata) {
    throw new IllegalStateException("requests of this route are answered with JSON");
  }

  /** Sends the status line and headers of an event stream with the first bytes of {@code body}. */
  void events(StreamBody body);
}
