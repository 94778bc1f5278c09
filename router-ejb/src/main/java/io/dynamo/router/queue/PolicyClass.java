package io.dynamo.router.queue;

import io.dynamo.config.router.RouterSettings;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait in one order; null is no bound.
 *
 * @param quantum tokens to prefill that the class may start before another has its turn; at least 1
 * @param busyTokens a rank is busy with more prefill ahead than this
 * @param busyBatches the same in batches of the rank
 * @param requestLimit requests that may wait, per worker
 * @param promptTokenLimit tokens of their prompts, per worker
 * @param cachedTokenLimit those of them that the best rank has cached, per worker
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
  /** Of requests that go on at once, however busy all are. */
  public static final PolicyClass NEVER_WAITS =
      new PolicyClass("", RouterSettings.QueuePolicy.FCFS, 1, null, null, null, null, null);

  /** Whether its requests ever wait. */
  public boolean waits() {
    return busyTokens != null || busyBatches != null;
  }

  /**
   * Whether a rank has enough to do for this class.
   *
   * @param prefillTokens ahead on the rank
   * @param batchTokens that one pass of the rank takes
   */
  public boolean isBusy(long prefillTokens, long batchTokens) {
    return (busyTokens != null && prefillTokens > busyTokens)
        || (busyBatches != null && prefillTokens > busyBatches * batchTokens);
  }
}
