package io.dynamo.pipeline.http2;

import io.dynamo.pipeline.CallHomeListener;

/**
 * A request that has arrived whole and waits for its answer. The first of accept and refuse counts.
 * Safe for concurrent use.
 */
public interface Http2Exchange {
  /**
   * Answers with status 200 and opens the answer stream for {@code listener}, whose {@code
   * connected} is called on the stream's event loop; {@code failed} when the requester is gone.
   */
  void accept(CallHomeListener listener);

  /**
   * Answers with an error.
   *
   * @param status of HTTP
   * @param text the reason, which becomes the body
   */
  void refuse(int status, String text);
}
