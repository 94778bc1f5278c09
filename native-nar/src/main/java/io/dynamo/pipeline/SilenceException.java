package io.dynamo.pipeline;

import java.io.IOException;
import java.time.Duration;

/**
 * Thrown when a worker sent nothing for longer than allowed, although its connection was being
 * read.
 */
public final class SilenceException extends IOException {
  private static final long serialVersionUID = 1L;

  SilenceException(Duration limit) {
    super("nothing was heard for " + limit);
  }
}
