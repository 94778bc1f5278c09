package io.dynamo.frontend.sse;

import io.dynamo.error.DynamoException;

/** Turns the items of one stream into SSE frames. Called by the writer's thread only. */
public interface FrameEncoder<T> {
  /** Appends what {@code item} says; nothing when the client need not see it. */
  void item(T item, ByteText frames);

  /** Appends what follows the last item of a regular end. */
  void end(ByteText frames);

  /** Appends what tells the client that the stream broke, terminator included. */
  void failure(DynamoException cause, ByteText frames);
}
