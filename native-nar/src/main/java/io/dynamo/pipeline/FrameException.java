package io.dynamo.pipeline;

import java.io.IOException;

/**
 * Thrown when bytes of a peer are no frame, or a frame exceeds the bound. The connection cannot be
 * used any more.
 */
public final class FrameException extends IOException {
  private static final long serialVersionUID = 1L;

  public FrameException(String message) {
    super(message);
  }
}
