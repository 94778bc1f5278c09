package io.dynamo.pipeline;

/**
 * Receives, in the worker, the input of a bidirectional request: a stream that the worker dials and
 * that has no prologue.
 */
public interface InputListener extends StreamListener {
  @Override
  default void prologue(byte[] json) {
    throw new IllegalStateException("an input has no prologue");
  }

  /**
   * Called in place of {@code connected}, when the requester cannot be reached, or its identity
   * does not match.
   */
  void failed(Throwable cause);

  /**
   * Called in place of {@code sentinel}, when the requester ends the input early. The connection is
   * closed.
   */
  void signalled(StreamSignal signal);
}
