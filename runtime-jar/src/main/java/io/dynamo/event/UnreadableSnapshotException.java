package io.dynamo.event;

import java.io.IOException;

/**
 * A stored snapshot is damaged or of another program: it will not be read by trying again, and the
 * next snapshot that is saved replaces it.
 */
public final class UnreadableSnapshotException extends IOException {
  private static final long serialVersionUID = 1L;

  public UnreadableSnapshotException(String message) {
    super(message);
  }
}
