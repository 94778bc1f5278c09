package io.dynamo.frontend.sse;

import io.dynamo.error.DynamoException;

/**
 * Turns the items of one stream into frames, those of SSE for most APIs. Called by the writer's
 * thread only.
 */
public interface FrameEncoder<T> {
  /** Appends the frames of {@code item}; none when the client need not see it. */
  void item(T item, ByteText frames);

  /**
   * Appends what a client gets before the first frame and while there is silence: a comment. An API
   * whose transport probes its connections appends nothing.
   */
  default void silence(ByteText frames) {
    frames.ascii(": \n\n");
  }

  /** Appends the frames that follow the last item at a regular end. */
  void end(ByteText frames);

  /** Appends the error frame of a broken stream, terminator included. */
  void failure(DynamoException cause, ByteText frames);
}
