package io.dynamo.pipeline;

/**
 * Hears, in the worker, the input of a bidirectional request: a stream that is dialled and has no
 * prologue.
 */
public interface InputListener extends StreamListener {
  @Override
  default void prologue(byte[] json) {
    throw new IllegalStateException("an input has no prologue");
  }

  /** In place of {@code connected}: the requester cannot be reached, or is not who it should be. */
  void failed(Throwable cause);

  /** In place of {@code sentinel}: the requester ends the input early. The connection is closed. */
  void signalled(StreamSignal signal);
}
