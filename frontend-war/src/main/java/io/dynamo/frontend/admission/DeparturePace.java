package io.dynamo.frontend.admission;

/**
 * Estimates how fast places become free while all are taken, as the mean over the newest
 * departures. Guarded by its owner's lock.
 */
final class DeparturePace {
  private static final int KEPT = 32;
  private static final int MAX_SECONDS = 60;

  private final long[] departures = new long[KEPT]; // nanos
  private long count; // since the last place was taken
  private long fullSince; // nanos

  /** Restarts the estimate. Called when the last place is taken. */
  void full(long nanos) {
    count = 0;
    fullSince = nanos;
  }

  /** Records that a place became free. */
  void departed(long nanos) {
    departures[(int) (count % KEPT)] = nanos;
    count++;
  }

  /**
   * Estimates the seconds until {@code places} more have become free: 1 to {@value #MAX_SECONDS}.
   */
  int secondsUntil(int places, long now) {
    long since = count <= KEPT ? fullSince : departures[(int) (count % KEPT)];
    long left = count <= KEPT ? count : KEPT - 1;
    double each = (double) Math.max(0, now - since) / Math.max(1, left);
    return (int) Math.clamp(Math.ceil(each * places / 1e9), 1, MAX_SECONDS);
  }
}
