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

  /** Writes the parts of a stream. */
  @FunctionalInterface
  interface PartsBody {
    /** Writes until the end; returns false when the stream ends early. */
    boolean writeTo(OutputStream out) throws IOException;
  }

  /**
   * An answer that is not JSON with the status 200.
   *
   * @param metadata of the header {@code metadata}, in ASCII; null for none
   */
  record WholeBody(int status, String contentType, byte[] bytes, @Nullable String metadata) {}

  void error(ApiError error);

  void json(byte[] body);

  /** Sends a whole answer of any type. */
  default void whole(WholeBody answer) {
    throw new IllegalStateException("requests of this route are answered with JSON");
  }

  /**
   * Sends a stream of parts with the first bytes of {@code body}. A body that ends early cuts the
   * connection, so that its client does not take the answer for complete.
   */
  default void parts(String contentType, PartsBody body) {
    throw new IllegalStateException("requests of this route are answered with JSON");
  }

  /** Sends the status line and headers of an event stream with the first bytes of {@code body}. */
  void events(StreamBody body);
}
