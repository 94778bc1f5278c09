package io.dynamo.pipeline;

import java.io.IOException;
import java.time.Duration;

/** A worker said nothing for longer than allowed, though it was listened to. */
public final class SilenceException extends IOException {
  private static final long serialVersionUID = 1L;

  SilenceException(Duration limit) {
    super("nothing was heard for " + limit);
  }
}
