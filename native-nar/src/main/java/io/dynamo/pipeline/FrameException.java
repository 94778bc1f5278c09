package io.dynamo.pipeline;

import java.io.IOException;

/** Bytes of a peer that are no frame, or one beyond the bound. The connection is of no more use. */
public final class FrameException extends IOException {
  private static final long serialVersionUID = 1L;

  public FrameException(String message) {
    super(message);
  }
}
