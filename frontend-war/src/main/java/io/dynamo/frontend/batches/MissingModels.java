package io.dynamo.frontend.batches;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Remembers the answers of one batch that name models which are not there, so that the lines of a
 * batch wait once for each. Safe for concurrent use.
 */
final class MissingModels {
  /** How long a line waits for a model that is not there: workers may be starting. */
  static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final int MOST = 1000;

  private final InstantSource clock;
  private final Set<Fingerprint> missing = ConcurrentHashMap.newKeySet();

  MissingModels(InstantSource clock) {
    this.clock = clock;
  }

  /**
   * Whether to ask again for a model.
   *
   * @param answer names the model
   * @param sinceMillis when the line got that answer first
   */
  boolean mayAppear(byte[] answer, long sinceMillis) {
    var known = Fingerprint.of(answer);
    if (clock.millis() - sinceMillis < PATIENCE.toMillis()) {
      return !missing.contains(known);
    }
    if (missing.size() < MOST) {
      missing.add(known);
    }
    return false;
  }
}
