package io.dynamo.pipeline.http;

import java.io.IOException;

/**
 * Receives the answer to one request, on one event loop: the beginning, then its bytes, then one of
 * both ends; a failure may come at any time before the end. Nothing comes after a cancellation that
 * was made on that loop. Must not block.
 */
public interface AnswerListener {
  void begun(int status);

  /**
   * @param bytes the next ones of the body; the listener's from now on
   */
  void content(byte[] bytes);

  void ended();

  void failed(IOException cause);
}
