package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.frontend.dispatch.AnswerItems;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An answer whose items are there from the beginning. For one thread, but for the abort. */
final class ScriptedItems<A> implements AnswerItems<A> {
  private final Deque<A> items;
  private final CountDownLatch settled; // nothing is waited for
  private volatile @Nullable DynamoException failure;

  /**
   * @param failure after the items; null completes, unless there are none
   * @param endless whether an abort alone ends the answer
   */
  ScriptedItems(List<A> items, @Nullable DynamoException failure, boolean endless) {
    this.settled = new CountDownLatch(endless ? 1 : 0);
    this.items = new ArrayDeque<>(items);
    this.failure =
        items.isEmpty() && failure == null
            ? new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "no answer", null)
            : failure;
  }

  @Override
  public void awaitFirst() throws InterruptedException {
    awaitFirst(Long.MAX_VALUE);
  }

  @Override
  public void awaitFirst(long nanos) throws InterruptedException {
    await(nanos);
    var cause = failure;
    if (items.isEmpty() && cause != null) {
      throw cause;
    }
  }

  @Override
  public @Nullable A poll() {
    var item = items.poll();
    var cause = failure;
    if (item == null && cause != null) {
      throw cause;
    }
    return item;
  }

  @Override
  public boolean ended() {
    return items.isEmpty() && settled.getCount() == 0 && failure == null;
  }

  @Override
  public boolean await(long nanos) throws InterruptedException {
    return !items.isEmpty() || settled.await(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void abort(DynamoException cause) {
    failure = cause;
    settled.countDown();
  }

  @Override
  public void leave() {
    items.clear();
  }

  @Override
  public void cancel() {
    items.clear();
  }

  @Override
  public void close() {
    items.clear();
  }
}
