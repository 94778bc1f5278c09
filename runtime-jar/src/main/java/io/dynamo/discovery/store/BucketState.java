package io.dynamo.discovery.store;

import io.dynamo.discovery.store.Bucket.Entry;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/** Waits for a bucket to be in a certain state. */
final class BucketState {
  private BucketState() {}

  /**
   * Waits until {@code holds}.
   *
   * @return the state; empty when {@code patience} has passed
   */
  static Optional<Map<String, Entry>> await(
      Bucket bucket, Predicate<Map<String, Entry>> holds, Duration patience)
      throws InterruptedException {
    var reached = new CompletableFuture<Map<String, Entry>>();
    try (var _ =
        bucket.watch(
            state -> {
              if (holds.test(state)) {
                reached.complete(state);
              }
            })) {
      return Optional.of(reached.get(Math.max(0, patience.toNanos()), TimeUnit.NANOSECONDS));
    } catch (TimeoutException _) {
      return Optional.empty();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
