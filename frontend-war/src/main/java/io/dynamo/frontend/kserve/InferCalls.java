package io.dynamo.frontend.kserve;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.frontend.ApiError;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Serves requests for inferences that came as protobuf messages. Safe for concurrent use. */
public interface InferCalls {
  /**
   * The sender of a request.
   *
   * @param headers by lower-case name; the first value of each
   * @param local our end of the connection
   * @param remote the client's
   * @param patience how long the client waits; null when it did not say
   */
  record Caller(
      Map<String, String> headers,
      InetSocketAddress local,
      InetSocketAddress remote,
      @Nullable Duration patience) {}

  /**
   * Takes the answer to one request: any number of messages, then one of {@link #done} and {@link
   * #failed}. One thread calls, and may be blocked while the client does not read.
   */
  interface Answer {
    /**
     * @throws java.io.UncheckedIOException when the client is gone, or does not read
     */
    void message(byte[] message);

    void done();

    /**
     * @param error the answer, in place of messages
     * @throws java.io.UncheckedIOException when the client is gone
     */
    void failed(ApiError error);
  }

  /**
   * Starts to answer a request and returns.
   *
   * @param message {@code ModelInferRequest}
   * @param onRead runs once the request does not hold the message any more
   * @param streamed whether its answers are messages {@code ModelStreamInferResponse}
   * @return ends the request when it is cancelled
   * @throws io.dynamo.frontend.ApiException when it is refused; {@code answer} and {@code onRead}
   *     are not used then
   */
  Cancellation start(
      byte[] message, Runnable onRead, Caller caller, boolean streamed, Answer answer);
}
