package io.dynamo.frontend.admission;

/**
 * How fast places become free while all are taken: the mean over the newest departures since then.
 * Guarded by its owner.
 */
final class DeparturePace {
  private static final int KEPT = 32;
  private static final int MAX_SECONDS = 60;

  private final long[] departures = new long[KEPT]; // nanos
  private long count; // since the last place was taken
  private long fullSince; // nanos

  /** The last place was taken. */
  void full(long nanos) {
    count = 0;
    fullSince = nanos;
  }

  /** A place became free. */
  void departed(long nanos) {
    departures[(int) (count % KEPT)] = nanos;
    count++;
  }

  /**
   * Seconds until so many places more have become free, if it goes on like this: 1 to {@value
   * #MAX_SECONDS}.
   */
  int secondsUntil(int places, long now) {
    long since = count <= KEPT ? fullSince : departures[(int) (count % KEPT)];
    long left = count <= KEPT ? count : KEPT - 1;
    double each = (double) Math.max(0, now - since) / Math.max(1, left);
    return (int) Math.clamp(Math.ceil(each * places / 1e9), 1, MAX_SECONDS);
  }
}
