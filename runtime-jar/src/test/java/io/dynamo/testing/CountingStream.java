package io.dynamo.testing;

import io.dynamo.concurrent.ItemStream;
import java.util.function.IntFunction;

/** Feeds an {@link ItemStream} with as many items as it takes, up to a number. */
public final class CountingStream<T> {
  private static final int CAPACITY = 4;

  private final IntFunction<T> items;
  private final ItemStream<T> stream = new ItemStream<>(CAPACITY, this::pump, () -> {});
  private final long count;
  private long offered; // a producer that was asked to pause is no longer running when resumed

  private CountingStream(long count, IntFunction<T> items) {
    this.count = count;
    this.items = items;
  }

  /** A stream of {@code count} items that completes after the last. */
  public static <T> ItemStream<T> of(long count, IntFunction<T> items) {
    var counting = new CountingStream<T>(count, items);
    counting.pump();
    return counting.stream;
  }

  private void pump() {
    while (offered < count && !stream.isCancelled()) {
      if (!stream.offer(items.apply((int) offered++))) {
        return;
      }
    }
    stream.complete();
  }
}
