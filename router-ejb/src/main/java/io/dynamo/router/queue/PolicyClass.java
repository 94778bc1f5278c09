package io.dynamo.router.queue;

import io.dynamo.config.router.RouterSettings;
import org.jspecify.annotations.Nullable;

/**
 * A class of requests that wait in one order; null limits are no bound.
 *
 * @param order the order of the class's waiting requests
 * @param quantum tokens to prefill that the class may start before another has its turn; at least 1
 * @param busyTokens the prefill tokens booked on a rank above which it counts as busy
 * @param busyBatches the same, in batches of the rank
 * @param requestLimit requests that may wait, per worker
 * @param promptTokenLimit prompt tokens of the waiting requests, per worker
 * @param cachedTokenLimit those of these tokens that the best rank has cached, per worker
 */
public record PolicyClass(
    String name,
    RouterSettings.QueuePolicy order,
    long quantum,
    @Nullable Long busyTokens,
    @Nullable Double busyBatches,
    @Nullable Long requestLimit,
    @Nullable Long promptTokenLimit,
    @Nullable Long cachedTokenLimit) {
  /** The class of requests that never wait, however busy all ranks are. */
  public static final PolicyClass NEVER_WAITS =
      new PolicyClass("", RouterSettings.QueuePolicy.FCFS, 1, null, null, null, null, null);

  /** Whether requests of the class ever wait. */
  public boolean waits() {
    return busyTokens != null || busyBatches != null;
  }

  /**
   * Whether a rank is busy for this class.
   *
   * @param prefillTokens prompt tokens booked on the rank
   * @param batchTokens tokens that one pass of the rank takes
   */
  public boolean isBusy(long prefillTokens, long batchTokens) {
    return (busyTokens != null && prefillTokens > busyTokens)
        || (busyBatches != null && prefillTokens > busyBatches * batchTokens);
  }
}
