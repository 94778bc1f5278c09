package io.dynamo.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A listener that keeps what it hears, in order. Safe for concurrent use. */
public final class Recorder<T> implements Consumer<T> {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final LinkedBlockingQueue<T> queue = new LinkedBlockingQueue<>();

  @Override
  public void accept(T item) {
    queue.add(item);
  }

  /** The next {@code count} items; fails when they do not come. */
  public List<T> next(int count) throws InterruptedException {
    var items = new ArrayList<T>(count);
    while (items.size() < count) {
      var item = queue.poll(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
      if (item == null) {
        throw new AssertionError("heard only " + items + " of " + count);
      }
      items.add(item);
    }
    return items;
  }

  /** The next item; fails when it does not come. */
  public T next() throws InterruptedException {
    return next(1).getFirst();
  }

  /** Returns the recorded items that were not yet taken. */
  public List<T> rest() {
    var items = new ArrayList<T>();
    queue.drainTo(items);
    return items;
  }
}
